"""Labelling: an annotator opens a question, judges all its answers in one act, may undo, and never loses a saved label.

A question is reserved by a lease while it is open. The lease's token begins with the number of the generation whose
answers are on screen, so a verdict can never land on answers that nobody saw. After a submit the lease is given up but
remembered: its holder may correct the label as long as nobody else has taken the question.
"""

from __future__ import annotations

import math
import random
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from statistics import median
from typing import Any

from sqlalchemy.orm import Session

from app.services.actors import Actor, require
from app.services.checkpoints import refresh_staleness
from app.services.labels import count, read_labels
from db.base import utc_now
from db.engine import Database
from db.models import AnswerCluster, Generation, Lease, Project, Question, User, Verdict
from db.repositories.generations import GenerationRepository
from db.repositories.leases import LeaseRepository
from db.repositories.projects import ProjectRepository
from db.repositories.rounds import RoundRepository
from db.repositories.verdicts import VerdictRepository
from elical_core.domain import AnswerClass, Role, VerdictValue
from elical_core.errors import Conflict, InputError, NotAllowed, NotFound

LEASE_SECONDS = 600
MAIN_ANSWERS = 9  # keys 1 to 9
UNDO_DEPTH = 10


class Outcome(StrEnum):
    """How an annotator leaves a question."""

    JUDGED = "judged"  # ticked answers are correct, all others incorrect
    UNSURE = "unsure"
    SKIPPED = "skipped"


@dataclass(frozen=True, kw_only=True)
class AnswerChoice:
    """One distinct answer. ``text`` is shown literally; it is empty for an empty answer."""

    cluster_id: int
    text: str
    answer_class: AnswerClass


@dataclass(frozen=True, kw_only=True)
class AnnotationItem:
    """A question as an annotator may see it: no confidence, no counts, no greedy mark, no stream.

    ``main`` are at most nine answers (the greedy one and the most frequent), ``rest`` the rarer ones, each in an order
    that is random per question and the same at every visit. ``ticked`` are this annotator's earlier ticks when the
    question is open again; ``earlier`` is how they left it then (None: first visit). ``client_key`` is the idempotency
    key of this visit: hand it to ``submit`` as it is.
    """

    question_id: int
    project_id: int
    external_id: str
    text: str
    context: str
    domain: str
    metadata: Mapping[str, Any]
    guideline: str
    reference_answers: tuple[str, ...]
    main: tuple[AnswerChoice, ...]
    rest: tuple[AnswerChoice, ...]
    ticked: frozenset[int]
    earlier: Outcome | None
    lease_token: str
    lease_expires_at: datetime
    client_key: str

    @property
    def answers(self) -> tuple[AnswerChoice, ...]:
        return self.main + self.rest


@dataclass(frozen=True, kw_only=True)
class Saved:
    """``saved_at`` is when the verdict was committed; ``already`` when an earlier call with the same key had done it.
    ``n_labelled`` counts the project's labelled questions."""

    question_id: int
    saved_at: datetime
    outcome: Outcome
    n_labelled: int
    already: bool


@dataclass(frozen=True, kw_only=True)
class QueueState:
    """Questions of all rounds as one annotator sees them. ``open_to_me`` can be opened now; ``leased`` are held by
    others until ``leased_until`` (the earliest); ``without_answers`` are drawn but not sampled. ``median_seconds`` is
    of my own submits (None: none yet)."""

    drawn: int
    open_to_me: int
    done_by_me: int
    done_by_others: int
    leased: int
    leased_until: datetime | None
    without_answers: int
    my_judged: int
    my_unsure: int
    my_skipped: int
    median_seconds: float | None


def next_item(
    database: Database,
    who: Actor,
    project_id: int,
    *,
    now: datetime | None = None,
    lease_seconds: int = LEASE_SECONDS,
) -> AnnotationItem | None:
    """The question that this annotator has open, else the next drawn one that is free; None when there is none.

    Claiming is atomic: two annotators who ask at the same moment get different questions. An expired lease frees its
    question by the clock alone.
    """
    require(who, Role.ANNOTATOR)
    now = now or utc_now()
    with database.read.begin() as session:
        project = ProjectRepository(session).get(project_id)
        held = LeaseRepository(session).held(project_id, who.id, now)
        if (
            held is not None
            and _is_current(session, held)
            and held.expires_at - now > timedelta(seconds=lease_seconds) / 2
        ):
            return _item(session, project, held)
    with database.write.begin() as session:
        project = _begin(session, who, project_id)
        leases = LeaseRepository(session)
        held = leases.held(project_id, who.id, now)
        if held is not None and _is_current(session, held):
            _renew(held, now, lease_seconds)
            return _item(session, project, held)
        question_id = held.question_id if held else leases.first_open(project_id, who.id, now)
        return None if question_id is None else _open(session, project, question_id, who, now, lease_seconds)


def open_item(
    database: Database,
    who: Actor,
    question_id: int,
    *,
    now: datetime | None = None,
    lease_seconds: int = LEASE_SECONDS,
) -> AnnotationItem:
    """Opens one question by choice, for example to correct one's own label; the standing label holds until a new
    submit. Raises Conflict when others have taken all its places.
    """
    require(who, Role.ANNOTATOR)
    now = now or utc_now()
    with database.write.begin() as session:
        question = _question(session, question_id)
        project = _begin(session, who, question.project_id)
        lease = LeaseRepository(session).get(question_id, who.id)
        if lease is not None and lease.expires_at > now and _is_current(session, lease):
            _renew(lease, now, lease_seconds)
            return _item(session, project, lease)
        if not LeaseRepository(session).has_room(question_id, who.id, now):
            raise Conflict("somebody else has this question; go on with the next one")
        return _open(session, project, question_id, who, now, lease_seconds)


def submit(
    database: Database,
    who: Actor,
    *,
    question_id: int,
    lease_token: str,
    ticked: Collection[int],
    outcome: Outcome,
    client_key: str,
    seconds: float,
    now: datetime | None = None,
) -> Saved:
    """Saves one verdict per distinct answer, all or none; when it returns, they are committed.

    ``ticked`` are cluster ids (ignored unless ``outcome`` is judged). A repeated ``client_key`` changes nothing and
    gives the first result. A later submit of the same visit with another key corrects the label. Raises Conflict when
    the question was lost to somebody else or its answers changed, StoreError when the database cannot be written; the
    caller keeps the verdict and offers to try again.
    """
    require(who, Role.ANNOTATOR)
    now = now or utc_now()
    if not client_key:
        raise InputError("a submit needs the client key of its item, so that a repeated one is harmless")
    if not (math.isfinite(seconds) and seconds >= 0):
        raise InputError(f"seconds on screen must be a number from 0, got {seconds}")
    with database.write.begin() as session:
        question = _question(session, question_id)
        _begin(session, who, question.project_id)
        verdicts = VerdictRepository(session)
        if earlier := verdicts.by_key(client_key):
            return _already(session, question, who, earlier)
        generation, clusters = _answers(session, question_id)
        lease = _require_lease(session, who, question_id, lease_token, generation, now)
        values = _values(clusters, set(ticked), Outcome(outcome))
        draw = RoundRepository(session).newest_of(question_id)
        replaced = verdicts.add(
            clusters,
            values,
            question_id=question_id,
            annotator_id=who.id,
            round_id=draw.round_id if draw else None,
            seconds=seconds,
            client_key=client_key,
            now=now,
        )
        lease.expires_at = now
        if replaced:
            refresh_staleness(session, question.project_id)
        saved = Saved(
            question_id=question_id,
            saved_at=now,
            outcome=Outcome(outcome),
            n_labelled=_n_labelled(session, question.project_id),
            already=False,
        )
    return saved


def undo(
    database: Database,
    who: Actor,
    project_id: int,
    *,
    client_key: str = "",
    now: datetime | None = None,
    lease_seconds: int = LEASE_SECONDS,
) -> AnnotationItem | None:
    """Withdraws this annotator's last standing submit and opens its question with the earlier ticks; None when nothing
    is left to undo.

    Ten questions deep: with ten withdrawn questions open it raises Conflict. A repeated ``client_key`` undoes nothing
    more.
    """
    require(who, Role.ANNOTATOR)
    now = now or utc_now()
    key = client_key or f"undo-{secrets.token_hex(12)}"
    with database.write.begin() as session:
        project = _begin(session, who, project_id)
        verdicts, leases = VerdictRepository(session), LeaseRepository(session)
        if earlier := verdicts.by_key(key):
            return _open(session, project, earlier[0].question_id, who, now, lease_seconds)
        question_id = verdicts.last_submitted(project_id, who.id)
        if question_id is None:
            return None
        if leases.reopened(project_id, who.id, now) >= UNDO_DEPTH:
            raise Conflict(f"{UNDO_DEPTH} questions are open again already; submit one of them before undoing more")
        _, clusters = _answers(session, question_id)
        draw = RoundRepository(session).newest_of(question_id)
        verdicts.add(
            clusters,
            {cluster.id: VerdictValue.WITHDRAWN for cluster in clusters},
            question_id=question_id,
            annotator_id=who.id,
            round_id=draw.round_id if draw else None,
            seconds=0.0,
            client_key=key,
            now=now,
        )
        refresh_staleness(session, project_id)
        return _open(session, project, question_id, who, now, lease_seconds)


def heartbeat(
    database: Database,
    who: Actor,
    *,
    question_id: int,
    lease_token: str,
    now: datetime | None = None,
    lease_seconds: int = LEASE_SECONDS,
) -> datetime:
    """Keeps an open question reserved; gives the new expiry. Also works after one's own submit.

    Raises Conflict when somebody else has taken the question in the meantime.
    """
    require(who, Role.ANNOTATOR)
    now = now or utc_now()
    with database.write.begin() as session:
        question = _question(session, question_id)
        _begin(session, who, question.project_id)
        generation, _ = _answers(session, question_id)
        lease = _require_lease(session, who, question_id, lease_token, generation, now)
        _renew(lease, now, lease_seconds)
        return lease.expires_at


def release(database: Database, who: Actor, *, question_id: int, lease_token: str, now: datetime | None = None) -> None:
    """Gives an open question back at once; nothing happens when the lease is gone already."""
    require(who, Role.ANNOTATOR)
    with database.write.begin() as session:
        lease = LeaseRepository(session).get(question_id, who.id)
        if lease is not None and lease.token == lease_token:
            lease.expires_at = now or utc_now()


def save_reference(database: Database, who: Actor, question_id: int, answers: Sequence[str]) -> tuple[str, ...]:
    """Adds typed reference answers to a question; gives all of them. Blank ones are refused, known ones kept once."""
    require(who, Role.ANNOTATOR)
    typed = [answer.strip() for answer in answers]
    if not typed or not all(any(not char.isspace() for char in answer) for answer in typed):
        raise InputError("a reference answer must not be empty; type the answer, or leave it out")
    with database.write.begin() as session:
        question = _question(session, question_id)
        _begin(session, who, question.project_id)
        known = list(question.reference_answers)
        question.reference_answers = known + [a for a in dict.fromkeys(typed) if a not in known]
        if len(question.reference_answers) > len(known):
            question.reference_by_id = who.id
        return tuple(question.reference_answers)


def queue_state(database: Database, who: Actor, project_id: int, *, now: datetime | None = None) -> QueueState:
    """What is left and why, for this annotator."""
    require(who, Role.VIEWER)
    now = now or utc_now()
    with database.read.begin() as session:
        ProjectRepository(session).get(project_id)
        wanted = {
            item.question_id: max(1, int(drawn_by.settings.get("overlap", 1)))
            for item, drawn_by in RoundRepository(session).items(project_id)
        }
        answered = GenerationRepository(session).answered_ids(project_id)
        rows = [row for row in VerdictRepository(session).judgements(project_id) if row.question_id in wanted]
        mine = {row.question_id: row for row in rows if row.annotator_id == who.id}
        done_by_me = {key for key, row in mine.items() if row.n_judged or row.n_unsure or row.n_skipped}
        taken: dict[int, set[int]] = {key: set() for key in wanted}
        for row in rows:
            if row.n_judged and row.annotator_id != who.id:
                taken[row.question_id].add(row.annotator_id)
        full_by_others = {key for key, people in taken.items() if len(people) >= wanted[key]} - done_by_me
        leases = [item for item in LeaseRepository(session).open_in(project_id, now) if item.annotator_id != who.id]
        for lease in leases:
            if lease.question_id in taken:
                taken[lease.question_id].add(lease.annotator_id)
        blocked = {key for key, people in taken.items() if len(people) >= wanted[key]} - done_by_me - full_by_others
        without_answers = set(wanted) - answered
        seconds = VerdictRepository(session).seconds_by(project_id, who.id)
        return QueueState(
            drawn=len(wanted),
            open_to_me=len(set(wanted) - done_by_me - full_by_others - blocked - without_answers),
            done_by_me=len(done_by_me),
            done_by_others=len(full_by_others),
            leased=len(blocked),
            leased_until=min((item.expires_at for item in leases if item.question_id in blocked), default=None),
            without_answers=len(without_answers),
            my_judged=sum(row.n_judged > 0 for row in mine.values()),
            my_unsure=sum(row.n_unsure > 0 and not row.n_judged for row in mine.values()),
            my_skipped=sum(row.n_skipped > 0 and not row.n_judged and not row.n_unsure for row in mine.values()),
            median_seconds=median(seconds) if seconds else None,
        )


def _begin(session: Session, who: Actor, project_id: int) -> Project:
    """Every write starts here: others wait, and the account is still what the caller believes."""
    ProjectRepository(session).lock(project_id)
    user = session.get(User, who.id)
    if user is None or user.disabled:
        raise NotAllowed(f"the account {who.name!r} is disabled or gone; nothing was saved")
    require(Actor(id=user.id, name=user.name, role=user.role), Role.ANNOTATOR)
    return ProjectRepository(session).get(project_id)


def _question(session: Session, question_id: int) -> Question:
    if (question := session.get(Question, question_id)) is None:
        raise NotFound(f"there is no question with number {question_id}; reload the page")
    return question


def _answers(session: Session, question_id: int) -> tuple[Generation, Sequence[AnswerCluster]]:
    generations = GenerationRepository(session)
    if (generation := generations.newest(question_id)) is None:
        raise Conflict("this question has no sampled answers to judge; sample it first")
    return generation, generations.clusters(generation.id)


def _token(generation: Generation) -> str:
    return f"{generation.id}-{secrets.token_urlsafe(18)}"


def _is_current(session: Session, lease: Lease) -> bool:
    """The answers that the lease was taken for are still the newest."""
    generation = GenerationRepository(session).newest(lease.question_id)
    return generation is not None and lease.token.startswith(f"{generation.id}-")


def _renew(lease: Lease, now: datetime, lease_seconds: int) -> None:
    lease.heartbeat_at = now
    lease.expires_at = now + timedelta(seconds=lease_seconds)


def _open(
    session: Session, project: Project, question_id: int, who: Actor, now: datetime, lease_seconds: int
) -> AnnotationItem:
    generation, _ = _answers(session, question_id)
    until = now + timedelta(seconds=lease_seconds)
    lease = LeaseRepository(session).take(question_id, who.id, _token(generation), now, until)
    return _item(session, project, lease)


def _require_lease(
    session: Session, who: Actor, question_id: int, token: str, generation: Generation, now: datetime
) -> Lease:
    lease = LeaseRepository(session).get(question_id, who.id)
    if lease is None or lease.token != token:
        raise Conflict("this question is not open in this window any more; reload to go on. Nothing was saved")
    if not token.startswith(f"{generation.id}-"):
        raise Conflict("the answers to this question were sampled anew while it was open; reload to judge the new ones")
    if lease.expires_at <= now and not LeaseRepository(session).has_room(question_id, who.id, now):
        raise Conflict(
            f"your hold on this question ended at {lease.expires_at:%H:%M} UTC and somebody else has taken it; "
            "nothing was saved, go on with the next one"
        )
    return lease


def _values(clusters: Sequence[AnswerCluster], ticked: set[int], outcome: Outcome) -> dict[int, VerdictValue]:
    if unknown := ticked - {cluster.id for cluster in clusters}:
        raise Conflict(
            f"{len(unknown)} of the ticked answers are not answers to this question any more; reload the page"
        )
    if outcome is not Outcome.JUDGED:
        value = VerdictValue.UNSURE if outcome is Outcome.UNSURE else VerdictValue.SKIPPED
        return {cluster.id: value for cluster in clusters}
    return {
        cluster.id: VerdictValue.CORRECT if cluster.id in ticked else VerdictValue.INCORRECT for cluster in clusters
    }


def _outcome(values: Collection[VerdictValue]) -> Outcome | None:
    if {VerdictValue.CORRECT, VerdictValue.INCORRECT} & set(values):
        return Outcome.JUDGED
    if VerdictValue.UNSURE in values:
        return Outcome.UNSURE
    return Outcome.SKIPPED if VerdictValue.SKIPPED in values else None


def _already(session: Session, question: Question, who: Actor, earlier: Sequence[Verdict]) -> Saved:
    outcome = _outcome([row.value for row in earlier])
    if outcome is None or {(row.question_id, row.annotator_id) for row in earlier} != {(question.id, who.id)}:
        raise Conflict("this client key belongs to another act; reload the page. Nothing was saved")
    return Saved(
        question_id=question.id,
        saved_at=earlier[0].created_at,
        outcome=outcome,
        n_labelled=_n_labelled(session, question.project_id),
        already=True,
    )


def _n_labelled(session: Session, project_id: int) -> int:
    return count(read_labels(session, project_id)).labelled


def _item(session: Session, project: Project, lease: Lease) -> AnnotationItem:
    question = _question(session, lease.question_id)
    generation, clusters = _answers(session, question.id)
    main, rest = _shuffled(generation, clusters)
    ticked, earlier = _earlier(VerdictRepository(session).history([c.id for c in clusters], lease.annotator_id))
    return AnnotationItem(
        question_id=question.id,
        project_id=project.id,
        external_id=question.external_id,
        text=question.text,
        context=question.context,
        domain=question.domain,
        metadata=dict(question.details),
        guideline=project.guideline,
        reference_answers=tuple(question.reference_answers),
        main=tuple(_choice(generation, cluster) for cluster in main),
        rest=tuple(_choice(generation, cluster) for cluster in rest),
        ticked=ticked,
        earlier=earlier,
        lease_token=lease.token,
        lease_expires_at=lease.expires_at,
        client_key=f"submit-{lease.token}",
    )


def _shuffled(
    generation: Generation, clusters: Sequence[AnswerCluster]
) -> tuple[list[AnswerCluster], list[AnswerCluster]]:
    """The nine to show first and the others, both in an order fixed by the generation's number alone."""
    chance = random.Random(f"answers of generation {generation.id}")
    ranked = sorted(clusters, key=lambda c: (not c.holds_greedy, c.position))
    main, rest = ranked[:MAIN_ANSWERS], ranked[MAIN_ANSWERS:]
    chance.shuffle(main)
    chance.shuffle(rest)
    return main, rest


def _choice(generation: Generation, cluster: AnswerCluster) -> AnswerChoice:
    classes = [AnswerClass(generation.samples[index]["class"]) for index in cluster.members]
    if cluster.holds_greedy:
        classes.append(generation.greedy_class)
    answer_class = AnswerClass.ANSWER if AnswerClass.ANSWER in classes or not classes else classes[0]
    return AnswerChoice(cluster_id=cluster.id, text=cluster.representative, answer_class=answer_class)


def _earlier(history: Sequence[Verdict]) -> tuple[frozenset[int], Outcome | None]:
    """The ticks and the outcome of the annotator's newest judgement that is not itself a withdrawal."""
    newest: dict[int, VerdictValue] = {}
    for event in history:
        if event.value is not VerdictValue.WITHDRAWN:
            newest.setdefault(event.cluster_id, event.value)
    ticked = frozenset(key for key, value in newest.items() if value is VerdictValue.CORRECT)
    return ticked, _outcome(list(newest.values()))
