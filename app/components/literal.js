// Text goes in through textContent only, so nothing in it is ever interpreted.
export default function ({ data, parentElement }) {
  const node = parentElement.querySelector(".text")
  node.className = `text ${data.tone}`
  node.textContent = data.text
  node.setAttribute("role", { error: "alert", title: "heading", heading: "heading" }[data.tone] ?? "note")
  if (data.tone === "title" || data.tone === "heading") node.ariaLevel = data.tone === "title" ? "1" : "3"
}
