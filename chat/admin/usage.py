"""Usage: what people and models took, by day and by whatever else one asks."""

from datetime import date
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _

from chat import services
from chat.admin.read_only import ReadOnlyAdmin
from chat.models import DailyUsage
from chat.rendering.page import usage as drawing
from chat.services import UsageFilter, UsageReport
from chat.views.page_data import names_in

# More days than these are no report but a burden.
MOST_DAYS = 1100


class UsageForm(forms.Form):
    """What the report is about. Whatever cannot be read is left out."""

    since = forms.DateField(
        label=_("From"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        label=_("To"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    by = forms.ChoiceField(label=_("By"), required=False, choices=list(drawing.WAYS.items()))
    person = forms.ChoiceField(label=_("Person"), required=False)
    group = forms.ChoiceField(label=_("Group"), required=False)
    agent = forms.ChoiceField(label=_("Agent"), required=False)
    model = forms.ChoiceField(label=_("Model"), required=False)
    kind = forms.ChoiceField(
        label=_("Kind"), required=False, choices=[("", _("All")), *drawing.KINDS.items()]
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["since"].widget.format = self.fields["until"].widget.format = "%Y-%m-%d"
        for name, choices in services.usage_choices().items():
            all_ = [("", _("All")), *((each, each) for each in choices)]
            self.fields[name].choices = all_  # type: ignore[attr-defined]

    def report(self) -> UsageReport:
        self.is_valid()
        given = self.cleaned_data
        usual = services.last_days()
        until: date = given.get("until") or usual.until
        since: date = given.get("since") or min(usual.since, until)
        if not 0 <= (until - since).days < MOST_DAYS:
            since, until = usual.since, usual.until
        named = {name: given.get(name) or "" for name in ("person", "group", "agent", "model")}
        asked = UsageFilter(since, until, kind=given.get("kind") or "", **named)
        ways = [way for way in services.USAGE_WAYS if way == given.get("by")]
        return services.report_usage(asked, *ways)


@admin.register(DailyUsage)
class DailyUsageAdmin(ReadOnlyAdmin[DailyUsage]):
    list_display = ("day", "person", "agent", "model_id", "kind", "requests", "errors", "price")
    list_filter = ("day", "kind", "agent", "model_id")
    list_select_related = ("person",)
    search_fields = ("person__username", "agent", "model_id")
    date_hierarchy = "day"

    @admin.display(description=_("cost"), ordering="cost")
    def price(self, row: DailyUsage) -> str:
        return drawing.money(row.cost)

    def get_urls(self) -> list[URLPattern]:
        report = self.admin_site.admin_view(self.report)
        return [path("report/", report, name="chat_dailyusage_report"), *super().get_urls()]

    def report(self, request: HttpRequest) -> HttpResponse:
        """What was used, added up."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        form = UsageForm(request.GET)
        report = form.report()
        if "csv" in request.GET:
            return _as_csv(report)
        days = report if report.by == "day" else services.report_usage(report.asked, "day")
        names = names_in(services.current_catalog(), request.LANGUAGE_CODE or "en")
        query = request.GET.copy()
        query["csv"] = "1"
        context = {
            **self.admin_site.each_context(request),
            "title": _("Usage"),
            "opts": self.opts,
            "form": UsageForm(initial={**request.GET.dict(), **_dates(report), "by": report.by}),
            "report": report,
            "heading": drawing.WAYS[report.by],
            "headings": drawing.headings(),
            "rows": drawing.rows_of(report.by, report.lines, names.models),
            "total": drawing.total_row(report.total),
            "charts": drawing.charts_of(days.lines),
            "csv_url": f"?{query.urlencode()}",
        }
        return TemplateResponse(request, "admin/chat/dailyusage/report.html", context)


def _dates(report: UsageReport) -> dict[str, str]:
    return {"since": report.asked.since.isoformat(), "until": report.asked.until.isoformat()}


def _as_csv(report: UsageReport) -> HttpResponse:
    lines = drawing.csv_lines(report.by, report.lines, services.USAGE_SUMS)
    name = f"usage-{report.asked.since}-{report.asked.until}-{report.by}.csv"
    return HttpResponse(
        "".join(lines),
        content_type="text/csv; charset=utf-8",
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )
