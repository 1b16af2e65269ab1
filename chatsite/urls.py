"""Addresses of the site; those of the chat itself are in chat/urls.py."""

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from chat.views.preferences import set_language
from chatsite.entrance import EnterView
from chatsite.static import favicon
from chatsite.throttle import ThrottledAdminForm, ThrottledForm

admin.site.login_form = ThrottledAdminForm
login = LoginView.as_view(redirect_authenticated_user=True, authentication_form=ThrottledForm)

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/login/", login, name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("enter/", EnterView.as_view(), name="enter"),
    path("i18n/setlang/", login_not_required(set_language), name="set_language"),
    path("favicon.ico", favicon),
    path("", include("chat.urls")),
]
