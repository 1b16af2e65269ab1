"""Where sockets are: one path for a conversation, one for the column alone."""

from django.urls import path

from chat.consumers.consumer import ChatConsumer

websocket_urlpatterns = [
    path("ws/", ChatConsumer.as_asgi()),
    path("ws/c/<uuid:conversation_id>/", ChatConsumer.as_asgi()),
]
