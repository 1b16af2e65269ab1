"""Folders, by their names; the instructions in them are their owners' own, and not here."""

from django.contrib import admin

from chat.admin.read_only import ReadOnlyAdmin
from chat.models import Folder


@admin.register(Folder)
class FolderAdmin(ReadOnlyAdmin[Folder]):
    list_display = ("name", "owner", "created")
    list_filter = ("created",)
    list_select_related = ("owner",)
    search_fields = ("name", "owner__username", "=id")
    fields = ("name", "owner", "collapsed", "created")
