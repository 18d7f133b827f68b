// What pages do beyond being read: parts that renew themselves, buttons that call the API, and uploads.
"use strict";

const REFRESH_MS = 2000;
const ATONCE = 3; // uploads
const LOOKS = 20; // uploads looked after in one round
const SETTLED = new Set(["succeeded", "superseded", "resolved", "quarantined"]);
const seen = new Map(); // part -> how the server last drew it
const followed = []; // uploads whose end is not known yet
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// -- Live parts: the page is fetched again, and only what differs is replaced, so that nothing flickers.

function isBusy(part) {
  const focused = document.activeElement;
  return part.querySelector("[data-dirty], button:disabled") || (part.contains(focused) && focused.matches("input, select"));
}

async function refresh() {
  const connection = document.getElementById("connection");
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, signal: AbortSignal.timeout(10000) });
    if (answer.status === 401) return location.reload(); // the session has ended: the same address asks for a key
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (answer.ok) {
      document.title = fresh.title;
      for (const part of document.querySelectorAll("[data-part]")) replace(part, fresh);
    }
    connection.hidden = answer.ok;
  } catch {
    connection.hidden = false;
  }
}

function replace(part, fresh) {
  const other = fresh.querySelector(`[data-part="${part.dataset.part}"]`);
  if (!other || other.outerHTML === seen.get(part) || isBusy(part)) return;
  const open = new Set([...part.querySelectorAll("details[open][id]")].map((details) => details.id));
  const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
  seen.set(part, other.outerHTML);
  part.replaceChildren(...other.childNodes);
  part.className = other.className;
  for (const id of open) part.querySelector(`details[id="${id}"]`)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus();
}

async function live() {
  for (const part of document.querySelectorAll("[data-part]")) seen.set(part, part.outerHTML);
  for (;;) {
    await pause(REFRESH_MS);
    if (!document.hidden) await refresh();
  }
}

// -- Buttons: <form data-api> sends its fields as JSON to the address in `action`.

function fieldsOf(form) {
  const fields = {};
  for (const [name, value] of form) {
    const [first, second] = name.split("."); // "filter.code" is the code of the filter
    if (name.startsWith("?")) continue; // goes into the address
    if (second) (fields[first] ??= {})[second] = value;
    else fields[first] = value;
  }
  return fields;
}

function addressOf(form) {
  const address = new URL(form.action);
  for (const [name, value] of new FormData(form)) if (name.startsWith("?")) address.searchParams.set(name.slice(1), value);
  return address;
}

async function call(form, submitter) {
  const told = form.querySelector("output");
  if (form.dataset.confirm && !confirm(form.dataset.confirm)) return;
  const body = JSON.stringify(fieldsOf(new FormData(form, submitter)));
  const method = form.dataset.api;
  submitter.disabled = true;
  told.textContent = "";
  try {
    const answer = await fetch(addressOf(form), {
      method,
      headers: { "Content-Type": "application/json" },
      body: method === "POST" ? body : undefined,
    });
    if (!answer.ok) told.textContent = (await answer.json()).detail;
    else form.reset();
  } catch {
    told.textContent = "The server does not answer.";
  }
  submitter.disabled = false;
  // From the field, which would keep its part from being renewed; who went elsewhere meanwhile stays there.
  if (document.activeElement === document.body || form.contains(document.activeElement)) submitter.focus();
  form.removeAttribute("data-dirty");
  if (!told.textContent) await refresh();
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-api]")) return;
  event.preventDefault();
  call(event.target, event.submitter);
});
document.addEventListener("input", (event) => event.target.closest("form[data-api]")?.setAttribute("data-dirty", ""));

// -- Uploads: dropped anywhere, or chosen; each tells its own state until that is final.

function row(name) {
  const item = document.createElement("li");
  for (const [kind, text] of [["a", name], ["span", "waits"], ["span", ""]]) {
    const element = document.createElement(kind);
    element.textContent = text;
    item.append(element);
  }
  const [link, state, why] = item.children;
  state.className = "state";
  why.className = "why";
  document.getElementById("uploads").prepend(item);
  return (word, text, sentence, where) => {
    state.textContent = text;
    state.className = `state ${word}`;
    why.textContent = sentence || "";
    if (where) link.href = where;
  };
}

async function upload(file, tell) {
  const form = new FormData(document.getElementById("upload"));
  form.set("file", file, file.name);
  if (!form.get("collection")) form.delete("collection");
  tell("leased", "sending", "");
  const answer = await fetch("/v1/documents", { method: "POST", body: form });
  const body = await answer.json();
  if (!answer.ok) return tell("quarantined", "refused", body.detail);
  tell(body.state, word(body.state), "", `/documents/${body.document_id}`);
  followed.push({ id: body.document_id, version: body.input_version, tell });
}

const word = (state) => document.getElementById("upload").dataset[state] || state;

async function look(upload) {
  const answer = await fetch(`/v1/documents/${upload.id}`).catch(() => null);
  if (!answer?.ok) return upload;
  const body = await answer.json();
  const sentence = body.failure ? `${body.failure.message} ${body.failure.hint}` : body.waiting;
  upload.tell(body.state, word(body.state), sentence);
  return body.input_version > upload.version || SETTLED.has(body.state) ? null : upload;
}

async function followAll() {
  for (;;) {
    await pause(REFRESH_MS / 2);
    const looked = await Promise.all(followed.splice(0, LOOKS).map(look));
    followed.push(...looked.filter(Boolean));
  }
}

async function uploadAll(files) {
  const waiting = [...files].map((file) => [file, row(file.name)]);
  const take = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [file, tell] = next;
      await upload(file, tell).catch(() => tell("quarantined", "not sent", "The server does not answer. Drop it again."));
    }
  };
  await Promise.all(Array.from({ length: ATONCE }, take));
}

function uploads() {
  followAll();
  const chooser = document.querySelector("#upload input[type=file]");
  const take = () => {
    uploadAll(chooser.files);
    chooser.value = "";
  };
  chooser.addEventListener("change", take);
  take(); // what was chosen before this script had arrived
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dragging");
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dragging");
    uploadAll(event.dataTransfer.files);
  });
}

if (document.getElementById("upload")) uploads();
if (document.querySelector("[data-part]")) live();
