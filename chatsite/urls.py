"""Addresses of the site; those of the chat itself are in chat/urls.py."""

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LogoutView
from django.urls import include, path

from chat.views import coming_in, joining, single_sign_on
from chat.views.log_in import LogInPage
from chat.views.preferences import set_language
from chatsite.entrance import EnterView
from chatsite.static import favicon

handler500 = "chatsite.crowd.server_error"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/login/", LogInPage.as_view(), name="login"),
    path("accounts/code/", coming_in.ask_code, name="code"),
    path("accounts/oidc/", single_sign_on.leave_for_issuer, name="oidc"),
    path("accounts/oidc/return/", single_sign_on.return_from_issuer, name="oidc_return"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("accounts/sign-up/", joining.sign_up, name="sign_up"),
    path("accounts/invitation/<str:token>/", joining.invitation, name="invitation"),
    path("accounts/forgotten/", joining.forgotten, name="forgotten"),
    path("accounts/reset/<str:uid>/<str:token>/", joining.reset, name="reset"),
    path("accounts/password/", joining.new_password, name="new_password"),
    path("enter/", EnterView.as_view(), name="enter"),
    path("i18n/setlang/", login_not_required(set_language), name="set_language"),
    path("favicon.ico", favicon),
    path("", include("chat.urls")),
]
