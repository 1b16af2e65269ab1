"""A tree of foreign messages → turns with versions, in the order in which they can be written.

A question that was asked again in other words is a version of it, and so is every other answer to
it. A foreign answer may lie in many nodes (thoughts, calls, results); where it branches in its
middle, each way to an end is an answer of its own. Nothing in a tree is trusted: parents may be
missing, in a circle, or the node itself.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from chat.protocol.frozen import JsonObject

# Of one message; more are a broken file rather than somebody's patience.
MOST_VERSIONS = 1000
# Ways to an end share their beginnings: how many nodes may be in all of them together.
SPARE_NODES = 20_000

# No foreign id has a NUL in it: it is taken out.
MISSING = "\x00missing"

Kind = Literal["question", "answer", "hidden"]
FaultCode = Literal[
    "message_twice", "message_without_parent", "message_in_circle", "branch_left_out"
]


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A foreign message; one that is hidden holds its neighbours together and is not shown."""

    id: str
    parent: str
    kind: Kind
    data: JsonObject


@dataclass(frozen=True, slots=True)
class Turn:
    """A question (one node, or none where it is not in the file) or an answer (any number)."""

    role: Literal["question", "answer"]
    key: str
    nodes: tuple[Node, ...]
    parent: str = ""
    copy_of: str = ""
    version: int = 1
    is_shown: bool = True


@dataclass(frozen=True, slots=True)
class TreeFault:
    code: FaultCode
    where: str


@dataclass(slots=True)
class Arranged:
    turns: list[Turn] = field(default_factory=list)
    faults: list[TreeFault] = field(default_factory=list)


def arrange(nodes: Iterable[Node], current: str) -> Arranged:
    """The turns of a tree; those on the way to the `current` node are shown."""
    return _Tree(nodes, current).arrange()


def in_order_of_children(nodes: Sequence[Node], children: dict[str, list[str]]) -> list[Node]:
    """The nodes such that those of one parent stand as the parent lists them."""
    rank = {child: place for listed in children.values() for place, child in enumerate(listed)}
    return sorted(nodes, key=lambda node: rank.get(node.id, len(rank)))


@dataclass(frozen=True, slots=True)
class _Group:
    """Questions in one place: versions of each other."""

    members: tuple[Node, ...]
    parent: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class _Below:
    """What comes after a question."""

    question: Node
    is_shown: bool


class _Tree:
    def __init__(self, nodes: Iterable[Node], current: str) -> None:
        self._made = Arranged()
        self._nodes: dict[str, Node] = {}
        for node in nodes:
            if node.id in self._nodes:
                self._fault("message_twice", node.id)
            else:
                self._nodes[node.id] = node
        self._above: dict[Node, Node | None] = {}
        self._below: defaultdict[Node | None, list[Node]] = defaultdict(list)
        self._spare = len(self._nodes) + SPARE_NODES
        self._link()
        self._lived = self._way_to(current)

    def arrange(self) -> Arranged:
        stack: list[_Group | _Below | Turn] = []
        roots = self._below[None]
        questions = [node for node in roots if node.kind == "question"]
        if len(questions) < len(roots):
            questions.append(self._missing(roots))
        if questions:
            stack.append(_Group(tuple(questions), "", is_shown=True))
        while stack:
            # Each says what comes first, last in the list.
            match stack.pop():
                case _Group() as group:
                    stack += reversed(list(self._questions(group)))
                case _Below() as below:
                    stack += reversed(list(self._answers(below)))
                case Turn() as turn:
                    self._made.turns.append(turn)
        return self._made

    def _fault(self, code: FaultCode, where: str) -> None:
        self._made.faults.append(TreeFault(code, where))

    # --- what is below what ---------------------------------------------------------

    def _link(self) -> None:
        """Follow the parents, each node once; what is hidden hands its children up."""
        children: defaultdict[str, list[Node]] = defaultdict(list)
        roots = []
        for node in self._nodes.values():
            if not node.parent:
                roots.append(node)
            elif node.parent in self._nodes:
                children[node.parent].append(node)
            else:
                self._fault("message_without_parent", node.id)
                roots.append(node)
        seen: set[str] = set()
        self._walk(roots, children, seen)
        for node in self._nodes.values():
            if node.id not in seen:
                self._fault("message_in_circle", node.id)
                self._walk([node], children, seen)

    def _walk(self, roots: Sequence[Node], children: dict[str, list[Node]], seen: set[str]) -> None:
        stack: list[tuple[Node, Node | None]] = [(root, None) for root in reversed(roots)]
        while stack:
            node, above = stack.pop()
            if node.id in seen:
                continue
            seen.add(node.id)
            if node.kind != "hidden":
                self._above[node] = above
                self._below[above].append(node)
                above = node
            stack += [(child, above) for child in reversed(children.get(node.id, ()))]

    def _missing(self, roots: Sequence[Node]) -> Node:
        """Stands for the question of answers that come first."""
        question = Node(MISSING, "", "question", {})
        for node in roots:
            if node.kind == "answer":
                self._above[node] = question
                self._below[question].append(node)
        if any(node in self._lived for node in self._below[question]):
            self._lived.add(question)
        return question

    def _way_to(self, current: str) -> set[Node]:
        """The node that was looked at last, and all above it."""
        way: set[Node] = set()
        climbed: set[str] = set()
        node = self._nodes.get(current)
        while node is not None and node.id not in climbed:
            climbed.add(node.id)
            if node.kind != "hidden":
                way.add(node)
            node = self._nodes.get(node.parent)
        return way

    def _under(self, node: Node, kind: Kind) -> list[Node]:
        return [child for child in self._below.get(node, ()) if child.kind == kind]

    # --- versions -------------------------------------------------------------------

    def _questions(self, group: _Group) -> Iterator[Turn | _Below]:
        """The one that is shown, then its other texts; each with what was answered to it."""
        held = next((node for node in group.members if node in self._lived), group.members[-1])
        members = [node for node in group.members[:MOST_VERSIONS] if node is not held]
        for left in group.members[MOST_VERSIONS:]:
            if left is not held:
                self._fault("branch_left_out", left.id)
        members.insert(min(group.members.index(held), len(members)), held)
        versions = {node: number for number, node in enumerate(members, start=1)}
        yield Turn(
            "question",
            held.id,
            () if held.id == MISSING else (held,),
            parent=group.parent,
            version=versions[held],
            is_shown=group.is_shown,
        )
        yield _Below(held, group.is_shown)
        for node in members:
            if node is not held:
                own = () if node.id == MISSING else (node,)
                version = versions[node]
                yield Turn(
                    "question", node.id, own, copy_of=held.id, version=version, is_shown=False
                )
                yield _Below(node, is_shown=False)

    def _answers(self, below: _Below) -> Iterator[Turn | _Group]:
        """All answers to a question, the one that is shown last: versions that were put away
        together are brought back by their positions."""
        question = below.question
        followed = self._under(question, "question")
        ends: list[tuple[Node | None, int]] = list(self._ends(question))
        is_answered = bool(ends)
        if followed:
            # Nothing was answered before the next question.
            ends.insert(0, (None, 0))
        is_left = any(node in self._lived for node in followed)
        shown = self._shown_end(question) if is_answered and not is_left else None
        kept: list[Node | None] = []
        for end, length in ends:
            if end is not shown and (length > self._spare or len(kept) >= MOST_VERSIONS):
                self._fault("branch_left_out", end.id if end else question.id)
                continue
            self._spare -= length
            kept.append(end)
        numbered = sorted(enumerate(kept, start=1), key=lambda each: each[1] is shown)
        for version, end in numbered:
            is_shown = below.is_shown and end is shown
            key = f"answer:{end.id}" if end else f"none:{question.id}"
            way = self._way(question, end)
            yield Turn("answer", key, way, question.id, version=version, is_shown=is_shown)
            if following := followed if end is None else self._under(end, "question"):
                yield _Group(tuple(following), key, is_shown)

    def _ends(self, question: Node) -> Iterator[tuple[Node, int]]:
        """Where answers to it end, and how many nodes they have: nothing more is answered there,
        or somebody asks on."""
        stack = [(node, 1) for node in reversed(self._under(question, "answer"))]
        while stack:
            node, length = stack.pop()
            more = self._under(node, "answer")
            if not more or len(more) < len(self._below.get(node, ())):
                yield node, length
            stack += [(child, length + 1) for child in reversed(more)]

    def _shown_end(self, question: Node) -> Node:
        """The end that was looked at last; else the last of all."""
        node = question
        while True:
            more = self._below.get(node, [])
            lived = next((child for child in more if child in self._lived), None)
            if lived is not None and lived.kind == "question":
                return node
            answers = [child for child in more if child.kind == "answer"]
            following = lived or (answers[-1] if answers else None)
            if following is None:
                return node
            node = following

    def _way(self, question: Node, end: Node | None) -> tuple[Node, ...]:
        way = []
        node = end
        while node is not None and node is not question:
            way.append(node)
            node = self._above.get(node)
        return tuple(reversed(way))
