"""People and how they want it."""

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User

from chat.models import Profile


class ProfileInline(admin.StackedInline[Profile, User]):
    model = Profile
    can_delete = False


admin.site.unregister(User)


@admin.register(User)
class PersonAdmin(UserAdmin[User]):
    inlines = (ProfileInline,)
    list_display = ("username", "email", "is_active", "is_staff", "last_login")


@admin.register(Profile)
class ProfileAdmin(admin.ModelAdmin[Profile]):
    list_display = ("user", "language", "theme", "time_zone", "keep_generating")
    list_filter = ("language", "theme")
    list_select_related = ("user",)
    search_fields = ("user__username",)
    autocomplete_fields = ("user",)
