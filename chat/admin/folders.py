"""Folders, whose names and instructions are their owners' own."""

from django.contrib import admin

from chat.admin.read_only import ReadOnlyAdmin
from chat.models import Folder


@admin.register(Folder)
class FolderAdmin(ReadOnlyAdmin[Folder]):
    list_display = ("name", "owner", "created")
    list_filter = ("created",)
    list_select_related = ("owner",)
    search_fields = ("name", "owner__username", "=id")
    fields = ("name", "owner", "instructions", "collapsed", "created")
