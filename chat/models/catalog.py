"""Providers, their models, the agents made of them, and tools."""

from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q, TextChoices
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from chat.models.base import Row
from chat.models.secrets import EncryptedField, EncryptedTexts
from chat.protocol.effort import is_effort


def validate_base_url(value: str) -> None:
    """Unlike Django's own check, this allows a host without a dot: `http://ollama:11434`."""
    try:
        url = urlsplit(value)
        url.port  # noqa: B018 - raises for a port that is no number
    except ValueError:
        url = urlsplit("")
    plain = not (url.username or url.query or url.fragment or any(c.isspace() for c in value))
    if url.scheme not in ("http", "https") or not url.hostname or not plain:
        raise ValidationError(
            _("Enter an address such as https://api.example.com/v1, without user name or query.")
        )


def validate_efforts(value: object) -> None:
    if not isinstance(value, list) or not all(map(is_effort, value)):
        raise ValidationError(_('Enter a list of steps such as ["none", "low", "medium", "high"].'))


# What a request is made of: these are not set beside it.
_OWN_FIELDS = ("model", "messages", "input", "instructions", "system", "tools", "stream")


def validate_extra_body(value: object) -> None:
    """An object of parameters that are sent with every request, as a server names them."""
    if not isinstance(value, dict) or any(not name.strip() for name in value):
        raise ValidationError(_('Enter an object such as {"top_p": 0.9}.'))
    own = [name for name in value if name in _OWN_FIELDS]
    if own:
        raise ValidationError(_("%(name)s cannot be set here.") % {"name": ", ".join(own)})


def validate_program(value: str) -> None:
    if not value.startswith("/") or "\0" in value:
        raise ValidationError(_("Enter the whole path of a program, beginning with a slash."))


class Provider(Row):
    """A server, or this process itself, that runs models: its address, key and wire."""

    # Not `models.TextChoices`: the type checker takes `models` for the relation of that name.
    class Kind(TextChoices):
        OPENAI = "openai", _("OpenAI compatible")
        ANTHROPIC = "anthropic", _("Anthropic")
        OLLAMA = "ollama", _("Ollama")
        DEMO = "demo", _("Demo")
        CLAUDE_CODE = "claude_code", "Claude Code"

    class PermissionMode(TextChoices):
        """The words of Claude Code for what it does without asking; nobody can be asked here."""

        DEFAULT = "", _("only what is allowed below")
        PLAN = "plan", _("plan, change nothing")
        ACCEPT_EDITS = "acceptEdits", _("also change files in its folder")
        DONT_ASK = "dontAsk", _("refuse whatever it would have to ask for")
        BYPASS = "bypassPermissions", _("everything, without any check")

    class Style(TextChoices):
        AUTO = "auto", _("automatic")
        JSON = "json", _("native (JSON)")
        XML = "xml", _("in the prompt (XML)")

    class Wire(TextChoices):
        AUTO = "auto", _("automatic")
        CHAT = "chat", "Chat Completions"
        RESPONSES = "responses", "Responses"

    name = models.CharField(_("name"), max_length=100)
    kind = models.CharField(_("kind"), max_length=20, choices=Kind)
    base_url = models.CharField(
        _("base URL"), max_length=500, blank=True, validators=[validate_base_url]
    )
    api_key = EncryptedField(_("API key"), blank=True, default="")
    enabled = models.BooleanField(_("enabled"), default=True)
    tool_style = models.CharField(_("tool style"), max_length=4, choices=Style, default=Style.AUTO)
    wire = models.CharField(
        _("wire"), max_length=10, choices=Wire, default=Wire.AUTO,
        db_default="auto", help_text=_(
            "Of servers that are compatible with OpenAI’s. OpenAI and xAI are asked on Responses, "
            "all others on Chat Completions."
        ),
    )  # fmt: skip
    extra_headers = EncryptedTexts(_("extra headers"), default=dict, blank=True)
    extra_body = models.JSONField(
        _("extra parameters"), default=dict, db_default={}, blank=True,
        validators=[validate_extra_body],
        help_text=_("Sent with every request, such as {\"top_p\": 0.9}."),
    )  # fmt: skip
    # Of a program that is run on this machine, set by superusers alone; no tools by default.
    program = models.CharField(
        _("program"), max_length=500, blank=True, default="", db_default="",
        validators=[validate_program],
        help_text=_("The whole path, such as /usr/local/bin/claude. It runs as the server does."),
    )  # fmt: skip
    program_arguments = models.JSONField(
        _("more arguments"), null=True, blank=True,
        help_text=_("One in each line, such as --max-turns and, below it, 20."),
    )  # fmt: skip
    permission_mode = models.CharField(
        _("may do"), max_length=20, choices=PermissionMode, blank=True, default="", db_default="",
    )  # fmt: skip
    allowed_tools = models.JSONField(
        _("allowed tools"), null=True, blank=True,
        help_text=_(
            "One in each line, such as Read or Bash(git log *). Nothing else is offered. Read and "
            "Bash reach all that the server can read."
        ),
    )  # fmt: skip

    class Meta:
        verbose_name = _("provider")
        verbose_name_plural = _("providers")
        ordering = ("name",)
        permissions = (("use_claude_code", "Can use models of Claude Code"),)
        constraints = (
            models.CheckConstraint(
                condition=Q(kind__in=["openai", "anthropic", "ollama", "demo", "claude_code"]),
                name="provider_kind",
            ),
        )

    def __str__(self) -> str:
        return self.name


class LanguageModel(Row):
    """One model of a provider, with what it can do and what it costs."""

    class Thinking(TextChoices):
        """The forms of `chat.protocol.effort`."""

        USUAL = "", _("as its wire usually does")
        ADAPTIVE = "adaptive", _("adaptive (Anthropic)")
        BETWEEN = "between", _("adaptive, between its tools also where it is off (Anthropic)")
        BUDGET = "budget", _("with a budget of tokens (Anthropic)")
        TOOLLESS = "toolless", _("not beside tools on Chat Completions (OpenAI)")

    provider = models.ForeignKey(
        Provider, models.CASCADE, related_name="models", verbose_name=_("provider")
    )
    model_id = models.CharField(_("model id"), max_length=200)
    label = models.CharField(_("label"), max_length=100, blank=True)
    context_window = models.PositiveIntegerField(_("context window"), null=True, blank=True)
    max_output = models.PositiveIntegerField(
        _("longest output"), null=True, blank=True,
        help_text=_("What the model is able to, in tokens; it is not sent."),
    )  # fmt: skip
    output_limit = models.PositiveIntegerField(
        _("output limit"), null=True, blank=True,
        help_text=_("Answers end after so many tokens. Empty leaves it to the server."),
    )  # fmt: skip
    input_price = models.DecimalField(
        _("input price"), max_digits=12, decimal_places=6, default=0,
        help_text=_("Per million tokens."),
    )  # fmt: skip
    output_price = models.DecimalField(
        _("output price"), max_digits=12, decimal_places=6, default=0
    )
    cache_read_price = models.DecimalField(
        _("cache read price"), max_digits=12, decimal_places=6, default=0
    )
    cache_write_price = models.DecimalField(
        _("cache write price"), max_digits=12, decimal_places=6, default=0
    )
    free = models.BooleanField(
        _("costs nothing"), default=False, db_default=False,
        help_text=_("Otherwise a price of 0 is taken for one that nobody has entered yet."),
    )  # fmt: skip
    native_tools = models.BooleanField(_("calls tools natively"), default=True)
    reasoning = models.BooleanField(_("thinks"), default=False)
    # Nothing where nobody has said it yet; an empty list where there is nothing to choose.
    efforts = models.JSONField(
        _("steps of thinking"), null=True, blank=True, validators=[validate_efforts],
        help_text=_(
            'What can be chosen, from little to much, such as ["none", "low", "medium", "high"]; '
            '["none", "on"] where thinking is only switched on and off, [] where it cannot be.'
        ),
    )  # fmt: skip
    thinking = models.CharField(
        _("how it is asked to think"), max_length=10, choices=Thinking, blank=True,
        default=Thinking.USUAL, db_default="",
    )  # fmt: skip
    vision = models.BooleanField(_("sees images"), default=False)
    # None until somebody allows one; see `protocol/server_tools.py`.
    server_tools = models.JSONField(
        _("tools of the provider"), null=True, blank=True,
        help_text=_(
            "What the provider may do by itself while it answers, as far as it offers that: its "
            "own charges apply, and what is searched for leaves this server."
        ),
    )  # fmt: skip
    # Where nobody has said it, it is as with other models of its provider.
    documents = models.BooleanField(_("reads PDF files"), null=True, blank=True)
    wire = models.CharField(
        _("wire"), max_length=10, choices=Provider.Wire, default=Provider.Wire.AUTO,
        db_default="auto", help_text=_("Some models answer on one of the wires only."),
    )  # fmt: skip
    retires_on = models.DateField(_("retires on"), null=True, blank=True)
    extra_body = models.JSONField(
        _("extra parameters"), default=dict, db_default={}, blank=True,
        validators=[validate_extra_body],
        help_text=_("Sent with every request, such as {\"top_p\": 0.9}."),
    )  # fmt: skip
    # The fields that an administrator has filled in: no list of models changes them.
    set_by_hand = models.JSONField(default=list, db_default=[], blank=True, editable=False)
    enabled = models.BooleanField(_("enabled"), default=True)

    class Meta:
        verbose_name = _("model")
        verbose_name_plural = _("models")
        ordering = ("provider__name", "model_id")
        constraints = (
            models.UniqueConstraint(fields=("provider", "model_id"), name="model_once"),
            models.CheckConstraint(
                condition=Q(input_price__gte=0)
                & Q(output_price__gte=0)
                & Q(cache_read_price__gte=0)
                & Q(cache_write_price__gte=0),
                name="model_prices",
            ),
        )

    def __str__(self) -> str:
        return self.label or self.model_id


class ModelAdjustment(Row):
    """How a model is asked otherwise since its server has refused something
    (`chat.protocol.adjustments`)."""

    model = models.ForeignKey(
        LanguageModel, models.CASCADE, related_name="adjustments", verbose_name=_("model")
    )
    kind = models.CharField(_("kind"), max_length=20)
    name = models.CharField(_("name"), max_length=100, blank=True, default="")
    value = models.JSONField(_("value"), null=True, blank=True)
    refusal = models.TextField(_("refusal"), blank=True, default="")
    created = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("adjustment")
        verbose_name_plural = _("adjustments")
        ordering = ("created", "id")
        constraints = (
            models.UniqueConstraint(
                fields=("model", "kind", "name"), name="one_adjustment_of_a_kind"
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()


class EffortName(TextChoices):
    """How hard a model thinks, from little to much (`chat.protocol.effort`)."""

    AUTOMATIC = "", pgettext_lazy("thinking", "Automatic")
    NONE = "none", pgettext_lazy("thinking", "Off")
    MINIMAL = "minimal", pgettext_lazy("thinking", "Minimal")
    LOW = "low", pgettext_lazy("thinking", "Low")
    ON = "on", pgettext_lazy("thinking", "On")
    MEDIUM = "medium", pgettext_lazy("thinking", "Medium")
    HIGH = "high", pgettext_lazy("thinking", "High")
    XHIGH = "xhigh", pgettext_lazy("thinking", "Extra high")
    MAX = "max", pgettext_lazy("thinking", "Maximum")


class Agent(Row):
    """A way of using a model: its instructions, its tools, its limits."""

    class Unwatched(TextChoices):
        STOP = "stop", _("stop after a while")
        CONTINUE = "continue", _("go on")

    name = models.CharField(_("name"), max_length=100)
    description = models.TextField(_("description"), blank=True)
    system_prompt = models.TextField(_("system prompt"), blank=True)
    model = models.ForeignKey(
        LanguageModel, models.SET_NULL, null=True, blank=True, verbose_name=_("model")
    )
    tools = models.JSONField(_("allowed tools"), default=list, blank=True)
    temperature = models.FloatField(_("temperature"), null=True, blank=True)
    # How hard its model thinks until somebody chooses; empty where that is left to the model.
    effort = models.CharField(
        _("thinking"), max_length=20, choices=EffortName, blank=True, default="", db_default=""
    )
    max_steps = models.PositiveSmallIntegerField(_("most steps"), default=8)
    tool_style = models.CharField(
        _("tool style"), max_length=4, choices=Provider.Style, default=Provider.Style.AUTO
    )
    unwatched = models.CharField(
        _("when nobody is watching"), max_length=8, choices=Unwatched, default=Unwatched.STOP
    )
    enabled = models.BooleanField(
        _("enabled"), default=True,
        help_text=_("Switched off it is archived: nobody can choose it, its conversations stay."),
    )  # fmt: skip
    is_default = models.BooleanField(_("default"), default=False)
    # Said by itself, not by having no groups: one that is deleted must not open its agents.
    for_everybody = models.BooleanField(
        _("everybody may use it"), default=True, db_default=True,
        help_text=_("Otherwise only people in the groups below."),
    )  # fmt: skip
    groups = models.ManyToManyField(
        "auth.Group", blank=True, related_name="agents", verbose_name=_("groups"),
    )  # fmt: skip

    class Meta:
        verbose_name = _("agent")
        verbose_name_plural = _("agents")
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint(
                fields=("is_default",), condition=Q(is_default=True), name="one_default_agent"
            ),
            models.CheckConstraint(
                condition=Q(max_steps__gte=1) & Q(max_steps__lte=50), name="agent_max_steps"
            ),
            models.CheckConstraint(
                condition=Q(temperature__isnull=True)
                | (Q(temperature__gte=0) & Q(temperature__lte=2)),
                name="agent_temperature",
            ),
        )

    @property
    def key(self) -> str:
        """The name that is saved with messages: the same whatever language the reader has."""
        return getattr(self, "name_en", "") or self.name

    def __str__(self) -> str:
        return self.name


class Example(Row):
    """Something to ask an agent first: a button on the empty page."""

    class Icon(TextChoices):
        SUM = "calc", _("calculator")
        THOUGHT = "thought", _("thought")
        CODE = "term", _("terminal")
        TABLE = "table", _("table")
        WEB = "globe", _("globe")
        PLAN = "list", _("list")
        FILE = "file", _("file")
        WORDS = "edit", _("pencil")

    agent = models.ForeignKey(
        Agent, models.CASCADE, related_name="examples", verbose_name=_("agent")
    )
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    icon = models.CharField(_("icon"), max_length=8, choices=Icon, default=Icon.WORDS)
    title = models.CharField(_("title"), max_length=60)
    text = models.TextField(_("what is asked"))

    class Meta:
        verbose_name = _("example")
        verbose_name_plural = _("examples")
        ordering = ("position", "id")

    def __str__(self) -> str:
        return self.title


class ToolSetting(Row):
    """What an administrator has set for a tool: on or off, its name and description."""

    tool = models.CharField(_("tool"), max_length=100, unique=True)
    enabled = models.BooleanField(_("enabled"), default=True)
    name = models.CharField(_("name"), max_length=100, blank=True)
    description = models.TextField(_("description"), blank=True)
    timeout = models.PositiveSmallIntegerField(
        _("time-out"), null=True, blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(3600)],
        help_text=_("In seconds. Empty is what the tool itself wants."),
    )  # fmt: skip
    output_limit = models.PositiveIntegerField(
        _("longest output"), null=True, blank=True,
        validators=[MinValueValidator(100), MaxValueValidator(1_000_000)],
        help_text=_("How many characters the model reads. Empty is what the tool itself wants."),
    )  # fmt: skip
    # What was entered for the settings that the tool itself has, as JSON: keys may be among it.
    own = EncryptedField(
        _("its own settings"), blank=True, default="", db_default="", editable=False
    )

    class Meta:
        verbose_name = _("tool")
        verbose_name_plural = _("tools")
        ordering = ("tool",)

    def __str__(self) -> str:
        return self.name or self.tool


class SearchEngine(Row):
    """Another engine for the web search than DuckDuckGo; the one that is in use is asked."""

    class Kind(TextChoices):
        SEARXNG = "searxng", "SearXNG"
        BRAVE = "brave", "Brave Search"
        TAVILY = "tavily", "Tavily"

    kind = models.CharField(_("kind"), max_length=10, choices=Kind)
    base_url = models.CharField(
        _("address"), max_length=500, blank=True, validators=[validate_base_url],
        help_text=_("Of SearXNG, with JSON among its formats. The others have one of their own."),
    )  # fmt: skip
    api_key = EncryptedField(_("API key"), blank=True, default="")
    in_use = models.BooleanField(
        _("in use"), default=True, help_text=_("Without any that is, DuckDuckGo is asked.")
    )

    class Meta:
        verbose_name = _("search engine")
        verbose_name_plural = _("search engines")
        ordering = ("kind", "id")
        constraints = (
            models.UniqueConstraint(
                fields=("in_use",), condition=Q(in_use=True), name="one_search_engine"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["searxng", "brave", "tavily"]), name="search_engine_kind"
            ),
        )

    def __str__(self) -> str:
        return self.get_kind_display()


class CatalogStamp(models.Model):
    """One row, which the database itself changes whenever a row of the tables above does."""

    stamp = models.CharField(max_length=32)

    def __str__(self) -> str:
        return self.stamp
