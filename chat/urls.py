"""Addresses of the chat."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
