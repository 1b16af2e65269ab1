"""People and how they want it."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.http import HttpRequest

from chat.models import Profile


class ProfileInline(admin.StackedInline[Profile, User]):
    model = Profile
    can_delete = False


admin.site.unregister(User)


@admin.register(User)
class PersonAdmin(UserAdmin[User]):
    inlines = (ProfileInline,)
    list_display = ("username", "email", "is_active", "is_staff", "last_login")

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """How much goes with a person, in numbers: not their words."""
        _listed, counts, missing, protected = super().get_deleted_objects(objs, request)
        return [str(person) for person in objs], counts, missing, protected


@admin.register(Profile)
class ProfileAdmin(admin.ModelAdmin[Profile]):
    list_display = ("user", "language", "theme", "time_zone", "keep_generating")
    list_filter = ("language", "theme")
    list_select_related = ("user",)
    search_fields = ("user__username",)
    autocomplete_fields = ("user",)
