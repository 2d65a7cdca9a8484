// The annotation card: one question, all its distinct answers, one submit.
//
// Text from questions and answers goes in through textContent only, so nothing in it is ever interpreted. Ticks live in
// the browser; Python hears one event a verdict. A verdict in flight locks the card until Python replies to its key, so
// a second click cannot reach the next question, and it is sent again while no reply comes: the key makes that harmless.

const RESEND_MS = 5000
const IDLE_MS = 60_000 // a longer pause counts as this much time on screen
const LOOK_MS = 15_000
const BEAT_MS = 120_000 // an active annotator keeps the question reserved
const NO_MATCH = "No answer means the same as the reference by rule. Tick by hand, or press N if none is correct."
const cards = new WeakMap()

export default function (component) {
  const root = component.parentElement
  if (!cards.has(root)) cards.set(root, new Card(root))
  const card = cards.get(root)
  card.show(component.data, component.setTriggerValue)
  return () => {
    card.close()
    cards.delete(root)
  }
}

class Card {
  constructor(root) {
    this.at = name => root.querySelector(`[data-part="${name}"]`)
    this.item = undefined // nothing shown yet; null is the end of the queue
    this.hinting = ""
    this.pending = null // the event that Python has not yet replied to
    this.onKey = event => this.key(event)
    this.onTouch = () => this.clock.touch()
    this.onLeave = () => this.keepDraft()
    this.clock = new Clock()
    document.addEventListener("keydown", this.onKey)
    document.addEventListener("pointerdown", this.onTouch)
    window.addEventListener("pagehide", this.onLeave)
    this.resend = setInterval(() => this.tend(), 1000)
    for (const act of ["submit", "none", "unsure", "skip", "undo"]) this.at(act).onclick = () => this.act(act)
    this.at("keys").onclick = () => this.act("help")
    this.at("typed").onkeydown = event => this.typing(event)
    this.at("typed").oninput = () => this.keepDraft()
  }

  close() {
    this.keepDraft()
    document.removeEventListener("keydown", this.onKey)
    document.removeEventListener("pointerdown", this.onTouch)
    window.removeEventListener("pagehide", this.onLeave)
    clearInterval(this.resend)
  }

  show(data, send) {
    this.data = data
    this.send = send
    const reply = data.reply
    const answered = this.pending && reply && reply.key === this.pending.key
    if (answered) {
      this.pending = null
      if (reply.saved) this.dropDraft()
      else this.keepDraft()
    }
    if (this.item === undefined || this.item?.token !== data.item?.token) {
      this.pending = null
      this.begin(data.item)
    } else if (data.judged && data.judged.token === this.item?.token && data.judged.key !== this.judgedKey) {
      this.applyJudgement(data.judged)
    }
    this.drawStatus()
    this.lock()
    if (!this.pending) this.problem(reply?.problem ?? "", reply?.saved)
  }

  // ---- one question -------------------------------------------------------------------------------------------------

  begin(item) {
    this.item = item
    this.beatAt = Date.now()
    this.reasons = new Map(item?.reasons ?? [])
    this.judgedKey = null
    for (const part of ["question", "ask", "answers", "actions-judge"]) this.at(part).hidden = !item
    this.hint("")
    if (!item) return
    const draft = this.readDraft()
    this.ticks = new Set(draft ? draft.ticks : item.ticked)
    this.verdictKey = draft?.token === item.token ? draft.key : item.client_key
    this.sentBody = draft?.token === item.token ? draft.sentBody : null
    this.clock.start(draft?.activeMs ?? 0, draft?.openedAt)
    this.at("typed").value = draft ? draft.typed : ""
    setText(this.at("text"), item.question).classList.toggle("long", item.question.length > 280)
    setText(this.at("mark"), item.editing ? "You are changing your earlier verdict" : "").hidden = !item.editing
    const known = item.references
    setText(this.at("references"), known.length ? `Reference answer: ${known.join(" · or · ")}` : "")
    if (known.length && !item.editing && this.ticks.size === 0) this.hint(NO_MATCH)
    this.drawDetails(item.details)
    this.drawAnswers()
    if (draft?.pending && draft.token === item.token) setTimeout(() => this.dispatch(draft.pending))
  }

  drawDetails(details) {
    const box = this.at("details")
    box.hidden = details.length === 0
    box.open = false
    setText(this.at("summary"), details.map(([name]) => name).join(" · "))
    this.at("facts").replaceChildren(
      ...details.flatMap(([name, value]) => [element("dt", "", name), element("dd", "literal", value)]),
    )
  }

  drawAnswers() {
    this.labels = this.item.answers.map((answer, position) => {
      const label = element("label", "answer")
      const tick = element("input")
      tick.type = "checkbox"
      tick.onchange = () => this.toggle(position)
      const cap = keyCap(position)
      label.append(tick, ...(cap ? [element("kbd", "", cap)] : []))
      const words = element("span", "words literal", answer.text)
      if (answer.note) words.append(answer.text ? " " : "", element("span", "note", answer.note))
      label.append(words, element("span", "why literal"))
      return label
    })
    const half = Math.max(5, Math.ceil(this.labels.length / 2))
    const columns = [this.labels.slice(0, half), this.labels.slice(half)].map(labels => {
      const column = element("div", "column")
      column.append(...labels)
      return column
    })
    this.at("answers").replaceChildren(...columns)
    this.drawTicks()
  }

  drawTicks() {
    this.item.answers.forEach((answer, position) => {
      const label = this.labels[position]
      const ticked = this.ticks.has(answer.id)
      label.classList.toggle("ticked", ticked)
      label.querySelector("input").checked = ticked
      const why = setText(label.querySelector(".why"), this.reasons.get(answer.id) ?? "")
      why.hidden = !why.textContent
    })
    setText(this.at("submit-words"), this.ticks.size ? `Submit ${this.ticks.size} correct` : "Submit")
  }

  toggle(position) {
    const answer = this.item?.answers[position]
    if (!answer || this.locked) return this.item && this.drawTicks()
    if (!this.ticks.delete(answer.id)) this.ticks.add(answer.id)
    this.reasons.delete(answer.id)
    this.hint("")
    this.drawTicks()
    this.keepDraft()
  }

  // ---- acts ---------------------------------------------------------------------------------------------------------

  act(name) {
    this.clock.touch()
    if (name === "help") return this.toggleHelp()
    if (this.locked) return
    if (name === "undo") return this.data.can_undo && this.dispatch({ act: "undo" })
    if (!this.item) return
    if (name === "details") return void (this.at("details").open = !this.at("details").open)
    if (name === "reference") return this.at("typed").focus()
    if (name === "clear") {
      this.ticks.clear()
      this.reasons.clear()
      this.hint("")
      this.keepDraft()
      return this.drawTicks()
    }
    if (name === "submit" && this.ticks.size === 0)
      return this.hint("Nothing is ticked. If no answer is correct, press N.")
    if (name === "none" && this.ticks.size > 0)
      return this.hint("Some answers are ticked. Press Enter to submit them, or 0 to untick all and then N.")
    this.verdict(name)
  }

  verdict(outcome) {
    const body = { outcome, ticks: outcome === "submit" ? [...this.ticks] : [], reference: this.at("typed").value }
    const same = JSON.stringify(body)
    if (this.sentBody && this.sentBody !== same) this.verdictKey = newKey() // another verdict needs another key
    this.sentBody = same
    this.dispatch({
      act: "verdict", key: this.verdictKey, ...body, ...this.clock.read(),
      question_id: this.item.question_id, token: this.item.token,
    })
    this.keepDraft()
  }

  judge() {
    const reference = this.at("typed").value
    if (!this.item || this.pending || !reference.trim()) return
    this.dispatch({ act: "judge", question_id: this.item.question_id, token: this.item.token, reference })
  }

  applyJudgement(judged) {
    this.judgedKey = judged.key
    this.reasons = new Map(judged.reasons)
    for (const id of judged.same) this.ticks.add(id)
    this.drawTicks()
    this.hint(judged.same.length ? "" : NO_MATCH)
    this.at("typed").blur()
    this.keepDraft()
  }

  dispatch(event) {
    this.pending = { key: newKey(), ...event }
    this.sentAt = this.firstSentAt = this.lookedAt = Date.now()
    this.lock()
    this.problem("")
    this.hinting = ""
    this.drawStatus()
    this.send("act", this.pending)
  }

  // Once a second: a verdict without a reply is sent again; an annotator at work keeps the question.
  tend() {
    if (!this.pending) {
      if (this.item && this.clock.last > this.beatAt && Date.now() - this.beatAt > BEAT_MS) {
        this.beatAt = Date.now()
        this.send("act", { act: "beat", key: newKey() })
      }
      return
    }
    const now = Date.now()
    if (now - this.firstSentAt >= RESEND_MS)
      this.problem("No answer from the server. Your verdict is kept on this computer and sent again until it is saved.")
    if (now - this.lookedAt >= LOOK_MS) this.reloadIfServerIsBack()
    if (now - this.sentAt < RESEND_MS) return
    this.sentAt = now
    this.send("act", { ...this.pending, again: now })
  }

  // A restarted server may not know this page any more: then only a reload helps, after which the draft is sent again.
  async reloadIfServerIsBack() {
    this.lookedAt = Date.now()
    this.keepDraft()
    const answer = await fetch("_stcore/health").catch(() => null)
    if (answer?.ok && this.pending) location.reload()
  }

  // A verdict or an undo is on its way. A judgement locks nothing: a verdict need not wait for it.
  get locked() {
    return !!this.pending && this.pending.act !== "judge"
  }

  lock() {
    for (const act of ["submit", "none", "unsure", "skip"]) this.at(act).disabled = this.locked
    this.at("undo").disabled = this.locked || !this.data.can_undo
    this.at("answers").disabled = this.locked
  }

  // ---- what it says ---------------------------------------------------------------------------------------------------

  drawStatus() {
    const saving = this.pending && this.pending.act === "verdict"
    const saved = this.data.saved_at
    const clock = saved ? new Date(saved).toLocaleTimeString("en-GB") : ""
    setText(this.at("saved"), saving ? "Saving…" : saved ? `Saved ${clock} ✓` : "")
    this.at("saved").classList.toggle("yes", !saving && !!saved)
    setText(this.at("session"), this.data.session)
    this.hint(this.hinting)
  }

  problem(words, saved = false) {
    setText(this.at("problem"), words).hidden = !words
    if (words && !saved) {
      setText(this.at("saved"), "Not saved")
      this.at("saved").classList.remove("yes")
    }
  }

  hint(words) {
    this.hinting = words // a hint takes the place of the line on the previous question until the next act
    setText(this.at("hint"), words || this.data.previous).classList.toggle("hint", !!words)
  }

  toggleHelp() {
    const help = this.at("help")
    help.hidden = !help.hidden
    this.at("keys").setAttribute("aria-expanded", String(!help.hidden))
    this.at("help-keys").replaceChildren(
      ...this.data.keys.flatMap(key => {
        const term = element("dt")
        term.append(element("kbd", "", key.shown))
        return [term, element("dd", "", key.says)]
      }),
    )
  }

  // ---- keys -----------------------------------------------------------------------------------------------------------

  key(event) {
    this.clock.touch()
    if (event.defaultPrevented || event.repeat || event.isComposing || event.keyCode === 229) return
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (isTyping(document) || document.querySelector('[role="dialog"]')) return
    const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code)
    if (digit) {
      this.toggle(Number(digit[1]) - 1 + (event.shiftKey ? 9 : 0))
      return event.preventDefault()
    }
    const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key
    if (pressed === "Enter" && isControl(document)) return // the focused button or link gets it
    const found = this.data.keys.find(key => key.key === pressed)
    if (!found) return
    event.preventDefault()
    this.act(found.act)
  }

  typing(event) {
    if (event.isComposing || event.keyCode === 229 || event.repeat) return
    if (event.key === "Escape") this.at("typed").blur()
    if (event.key === "Enter") {
      event.preventDefault()
      this.judge()
    }
  }

  // ---- the draft: survives a reload and a lost connection ---------------------------------------------------------------

  get draftName() {
    return `elical:draft:${this.data.annotator}:${this.item.question_id}`
  }

  keepDraft() {
    if (!this.item) return
    const { seconds, opened_at: openedAt } = this.clock.read()
    const draft = {
      token: this.item.token, key: this.verdictKey, sentBody: this.sentBody, ticks: [...this.ticks],
      typed: this.at("typed").value, activeMs: seconds * 1000, openedAt,
      pending: this.pending?.act === "verdict" ? this.pending : null,
    }
    try {
      localStorage.setItem(this.draftName, JSON.stringify(draft))
    } catch {
      this.hint("This browser stores nothing for this site, so unsent ticks are lost when the page reloads.")
    }
  }

  readDraft() {
    try {
      return JSON.parse(localStorage.getItem(this.draftName))
    } catch {
      return null // unreadable or forbidden storage: start afresh
    }
  }

  dropDraft() {
    const name = this.item && this.draftName
    this.sentBody = null
    if (name) try { localStorage.removeItem(name) } catch { /* storage is forbidden, so there is nothing to remove */ }
  }
}

// Time on screen: the sum of pauses between touches while the page is visible, each pause capped.
class Clock {
  start(activeMs, openedAt) {
    this.active = activeMs
    this.openedAt = openedAt ?? Date.now()
    this.last = Date.now()
  }

  touch() {
    if (this.last === undefined) return
    this.active += Math.min(Date.now() - this.last, IDLE_MS)
    this.last = Date.now()
  }

  read() {
    this.touch()
    return { seconds: this.active / 1000, wall_seconds: (Date.now() - this.openedAt) / 1000, opened_at: this.openedAt }
  }
}

function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, "0")).join("")
}

function keyCap(position) {
  if (position < 9) return String(position + 1)
  return position < 18 ? `⇧${position - 8}` : ""
}

function focused(scope) {
  let node = scope.activeElement
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement
  return node
}

function isTyping(scope) {
  const node = focused(scope)
  if (!node) return false
  if (node.isContentEditable || node.matches("textarea, select")) return true
  return node.matches("input") && !["checkbox", "radio", "button", "submit", "range"].includes(node.type)
}

function isControl(scope) {
  return !!focused(scope)?.closest("button, a, summary, [role=button]")
}

function element(tag, className = "", text = "") {
  const made = document.createElement(tag)
  if (className) made.className = className
  if (text) made.textContent = text
  return made
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
  return node
}
