from django.urls import path

from chat import views

app_name = "chat"

urlpatterns = [
    path("", views.home, name="home"),
    path("new/", views.new, name="new"),
    path("theme/", views.theme, name="theme"),
    path("c/<uuid:conversation_id>/", views.conversation, name="conversation"),
    path("c/<uuid:conversation_id>/older/", views.older, name="older"),
    path("c/<uuid:conversation_id>/send/", views.send, name="send"),
    path("c/<uuid:conversation_id>/stop/", views.stop, name="stop"),
]
