"use strict";
(() => {
  const data = JSON.parse(document.getElementById("stages").textContent);
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const theme = byId("theme");
  const dark = () => root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; draw(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
  // a number leads to where it comes from, which is folded until asked for
  function reveal() {
    const wanted = byId(decodeURIComponent(location.hash.slice(1)));
    const folded = wanted && wanted.closest("details");
    if (folded) { folded.open = true; wanted.scrollIntoView({ block: "center" }); }
  }
  addEventListener("hashchange", reveal);
  reveal();
  const canvas = byId("stage");
  if (!data.scenes.length || !canvas) { window.navaudit = { ready: true }; return; }

  // where there is little room, the picture and what changes it stay together
  byId("key").open = matchMedia("(min-width: 52rem)").matches;

  const STEPS = 41, CM = 100, TURN = 10000;
  const [LK, EP, PDM] = ["LK", "EP", "PDM"].map((one) => data.short.indexOf(one));
  const state = { scene: 0, column: LK, policy: "raw", step: 0, candidate: -1, zoom: 1 };
  const graded = (column) => column === EP || column === PDM;
  const worded = (column) => data.columns[column].replaceAll("_", " ");

  function bytes(text) {
    const raw = atob(text), out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
    return out.buffer;
  }
  function unpack(scene) {
    if (scene.ready) return scene;
    const shown = scene.shown;
    scene.xy = new Int16Array(bytes(shown.xy_cm));
    scene.heading = new Int16Array(bytes(shown.heading));
    scene.raw = new Float32Array(bytes(shown.raw));
    scene.first = new Int8Array(bytes(shown.first_step));
    scene.path = shown.path === null ? null : new Float32Array(bytes(shown.path));
    scene.fired = scene.human.map((one) => one === 0);
    scene.ready = true;
    return scene;
  }
  const here = () => unpack(data.scenes[state.scene]);
  const count = (scene) => scene.shown.index.length;
  const first = (scene, column, i) => scene.first[column * count(scene) + i];

  // what a trainer is given under a policy; NaN where it abstains
  function value(scene, policy, column, i) {
    const raw = scene.raw[column * count(scene) + i];
    if (policy === "raw") return raw;
    if (policy === "pass-lk" && column === LK) return 1;
    if (!scene.fired[column]) return raw;
    if (policy === "masked") return NaN;
    if (policy === "path" && column === LK && scene.path) return scene.path[i];
    return 1;
  }

  // of all candidates: how many are less than passing under a policy, and whether all abstain
  function given(scene, policy, column) {
    if (policy === "raw") return { fails: scene.failing[column] };
    if (policy === "pass-lk" && column === LK) return { fails: 0 };
    if (!scene.fired[column]) return { fails: scene.failing[column] };
    if (policy === "masked") return { fails: 0, abstains: true };
    if (policy === "path" && column === LK && scene.path) return { fails: scene.failing_path };
    return { fails: 0 };
  }

  function ink(name) { return getComputedStyle(root).getPropertyValue("--" + name).trim(); }
  function mix(a, b, t) {
    const parse = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
    const [p, q] = [parse(a), parse(b)];
    return "rgb(" + p.map((one, k) => Math.round(one + (q[k] - one) * t)).join(",") + ")";
  }
  function colour(v, column) {
    if (Number.isNaN(v)) return ink("abstain");
    if (graded(column)) return mix(ink("fail"), ink("pass"), v);
    return v === 1 ? ink("pass") : v === 0 ? ink("fail") : ink("half");
  }

  // ------------------------------------------------------------------------------- the picture
  const pen = canvas.getContext("2d");
  let frame = { scale: 1, x: 0, y: 0 };
  function fit() {
    const size = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(size.width * ratio);
    canvas.height = Math.round(size.height * ratio);
    const scene = here();
    let [left, right, low, high] = [-1200, 1200, -900, 1500];
    for (let i = 0; i < scene.xy.length; i += 2) {
      left = Math.min(left, scene.xy[i]); right = Math.max(right, scene.xy[i]);
      low = Math.min(low, scene.xy[i + 1]); high = Math.max(high, scene.xy[i + 1]);
    }
    const margin = 500;
    const wide = (right - left + 2 * margin), tall = (high - low + 2 * margin);
    const scale = Math.min(canvas.width / wide, canvas.height / tall) * state.zoom;
    const focus = state.zoom > 1 ? [0, 600] : [(left + right) / 2, (low + high) / 2];
    frame = { scale, x: canvas.width / 2 - focus[0] * scale, y: canvas.height / 2 + focus[1] * scale,
      ratio };
  }
  const px = (x) => frame.x + x * frame.scale;
  const py = (y) => frame.y - y * frame.scale;
  function trace(flat, close) {
    for (let i = 0; i < flat.length; i += 2) {
      if (i === 0) pen.moveTo(px(flat[0]), py(flat[1])); else pen.lineTo(px(flat[i]), py(flat[i + 1]));
    }
    if (close) pen.closePath();
  }
  function area(rings, fill, edge, width) {
    pen.beginPath();
    for (const ring of rings) trace(ring, true);
    if (fill) { pen.fillStyle = fill; pen.fill("evenodd"); }
    if (edge) { pen.strokeStyle = edge; pen.lineWidth = width * frame.ratio; pen.stroke(); }
  }
  function line(flat, stroke, width, dash) {
    pen.beginPath();
    trace(flat, false);
    pen.strokeStyle = stroke; pen.lineWidth = width * frame.ratio;
    pen.setLineDash((dash || []).map((one) => one * frame.ratio));
    pen.stroke();
    pen.setLineDash([]);
  }
  function box(x, y, heading, length, width, fill, edge, thick) {
    pen.save();
    pen.translate(px(x), py(y));
    pen.rotate(-heading / TURN);
    const [l, w] = [length * frame.scale, width * frame.scale];
    pen.lineWidth = (thick || 1) * frame.ratio;
    if (fill) { pen.fillStyle = fill; pen.fillRect(-l / 2, -w / 2, l, w); }
    if (edge) { pen.strokeStyle = edge; pen.strokeRect(-l / 2, -w / 2, l, w); }
    pen.restore();
  }
  const PAINT = { vehicle: "vehicle", pedestrian: "pedestrian", bicycle: "bicycle" };
  function path(scene, i) {
    return scene.xy.subarray(i * 2 * STEPS, (i + 1) * 2 * STEPS);
  }
  function drawGround(scene) {
    for (const layer of scene.ground) {
      if (layer.kind === "lane") area(layer.rings, null, ink("lane"), 1);
      else area(layer.rings, ink(layer.kind), layer.kind === "road" ? ink("edge") : null, 1.4);
    }
    line(scene.centreline, ink("centreline"), 1.4, [7, 4]);
    for (const light of scene.lights) {
      if (light.red[state.step] !== "1") continue;
      pen.globalAlpha = 0.25;
      area(light.rings, ink("red"), null, 1);
      pen.globalAlpha = 1;
      area(light.rings, null, ink("red"), 1.3);
    }
  }
  function drawAgents(scene) {
    for (const agent of scene.agents) {
      const pose = agent.poses[state.step];
      if (!pose) continue;
      const paint = ink(PAINT[agent.kind] || "thing");
      box(pose[0], pose[1], pose[2], agent.size[0], agent.size[1],
        agent.replayed ? paint : null, agent.replayed ? ink("ink") : paint, 0.8);
    }
  }
  function drawCandidates(scene) {
    const order = [...Array(count(scene)).keys()];
    const v = order.map((i) => value(scene, state.policy, state.column, i));
    // what is rare lies on top, or nobody would see it
    const passing = v.filter((one) => one === 1).length;
    const up = 2 * passing > v.length ? 1 : -1;
    order.sort((a, b) => up * (v[b] - v[a]) || a - b);
    pen.globalAlpha = state.candidate < 0 ? 0.6 : 0.2;
    for (const i of order) {
      line(path(scene, i), colour(v[i], state.column), 1.1, Number.isNaN(v[i]) ? [3, 3] : null);
    }
    pen.globalAlpha = 1;
  }
  function drawChosen(scene) {
    const i = state.candidate;
    if (i < 0) return;
    const v = value(scene, state.policy, state.column, i), flat = path(scene, i);
    line(flat, ink("page"), 6.5);
    line(flat, ink("ink"), 4.5);
    line(flat, colour(v, state.column), 2.8);
    const fails = first(scene, state.column, i);
    const at = (k) => [flat[2 * k], flat[2 * k + 1], scene.heading[i * STEPS + k]];
    box(...at(state.step), 518, 230, null, ink("ink"), 1.6);
    if (fails >= 0) {
      box(...at(fails), 518, 230, null, ink("fail"), 2.4);
      const [x, y] = at(fails);
      pen.font = 600 + " " + 12 * frame.ratio + "px system-ui, sans-serif";
      pen.lineWidth = 4 * frame.ratio; pen.strokeStyle = ink("page"); pen.fillStyle = ink("fail");
      const text = "first fails at " + (fails / 10).toFixed(1) + " s";
      const beside = 1.6 * CM * frame.scale + 8 * frame.ratio, wide = pen.measureText(text).width;
      const right = px(x) + beside, fits = right + wide < canvas.width;
      const start = fits ? right : px(x) - beside - wide;
      pen.strokeText(text, start, py(y));
      pen.fillText(text, start, py(y));
    }
  }
  function drawCar(scene) {
    pen.globalAlpha = state.step ? 0.35 : 1;
    area([scene.ego.box], ink("accent"), ink("page"), 1);
    pen.globalAlpha = 1;
  }
  function drawDrivers(scene) {
    const { human, reference } = scene.drivers;
    if (reference) line(reference.xy_cm, ink("reference"), 1.6, [2, 3]);
    if (!human) return;
    line(human.xy_cm, ink("page"), 5);
    line(human.xy_cm, ink("human"), 2.8);
    const k = state.step;
    box(human.xy_cm[2 * k], human.xy_cm[2 * k + 1], human.heading[k], 518, 230, null, ink("human"), 2);
  }
  function draw() {
    fit();
    const scene = here();
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.fillStyle = ink("page");
    pen.fillRect(0, 0, canvas.width, canvas.height);
    drawGround(scene);
    drawCandidates(scene);
    drawAgents(scene);
    drawCar(scene);
    drawDrivers(scene);
    drawChosen(scene);
    const metres = 10 * CM * frame.scale, edge = 14 * frame.ratio;
    pen.fillStyle = ink("ink");
    pen.fillRect(edge, canvas.height - edge, metres, 2 * frame.ratio);
    pen.font = 11 * frame.ratio + "px system-ui, sans-serif";
    pen.fillText("10 m", edge, canvas.height - edge - 5 * frame.ratio);
  }

  // --------------------------------------------------------------------------------- the words
  const tell = (v) => Number.isNaN(v) ? "abstains" : Number.isInteger(v) ? String(v) : v.toFixed(3);
  function counts() {
    const scene = here(), column = state.column, total = scene.candidates.toLocaleString("en");
    const words = graded(column) ? "score below 1" : "fail", name = worded(column);
    let said = `Before the overwrite, ${scene.failing[column].toLocaleString("en")} of ` +
      `${total} candidates ${words} on ${name}. `;
    said += scene.fired[column]
      ? "The human scored zero on it, so after the overwrite every candidate passes."
      : `The human scored ${tell(scene.human[column])} on it, so it stays as it is.`;
    const now = given(scene, state.policy, column);
    if (!["raw", "published"].includes(state.policy)) {
      said += now.abstains ? ` Under ${state.policy} labels all ${total} abstain.`
        : ` Under ${state.policy} labels ${now.fails.toLocaleString("en")} ${words}.`;
    }
    byId("counts").textContent = said;
    const rows = [...new Set(["raw", "published", state.policy])];
    byId("bars").replaceChildren(...rows.flatMap((policy) => [
      cell("span", policy, policy === state.policy ? "now" : ""), bar(scene, policy, column)]));
    byId("meaning").textContent = data.policies[state.policy];
  }
  function bar(scene, policy, column) {
    const { fails, abstains } = given(scene, policy, column);
    const share = (100 * fails) / scene.candidates, whole = cell("div", "", "bar");
    const parts = abstains ? [["abstain", 100]] : [["fail", share], ["pass", 100 - share]];
    whole.dataset.policy = policy;
    whole.append(...parts.map(([kind, part]) => {
      const piece = cell("i", "", kind);
      piece.style.width = part + "%";
      piece.style.background = `var(--${kind})`;
      return piece;
    }));
    return whole;
  }
  function cell(tag, text, kind) {
    const one = document.createElement(tag);
    one.textContent = text;
    if (kind) one.className = kind;
    return one;
  }
  // what is said of a candidate and the chosen column, for those who read and those who listen
  function outcome(scene, i) {
    const column = state.column, name = worded(column), fails = first(scene, column, i);
    const before = value(scene, "raw", column, i), after = value(scene, state.policy, column, i);
    let said = graded(column) || before === 0.5 ? `Scores ${tell(before)} on ${name}`
      : before === 1 ? `Passes ${name}` : `Fails ${name}`;
    if (fails >= 0 && before < 1) said += `, first at ${(fails / 10).toFixed(1)} s`;
    if (Number.isNaN(after)) return said + "; a trainer is told nothing.";
    if (after === before) return said + ".";
    return said + (after === 1 ? "; a trainer is told that it passes." : `; a trainer is told ${tell(after)}.`);
  }
  const mark = (v) => (v === 0 ? "bad" : v === 1 ? "good" : "");
  function details() {
    const scene = here(), i = state.candidate, body = byId("choice");
    byId("which").textContent = i < 0
      ? "No candidate is chosen: point at one, tap one, or use the buttons."
      : `Candidate ${scene.shown.index[i].toLocaleString("en")} of this scene`;
    byId("outcome").textContent = i < 0 ? "" : outcome(scene, i);
    body.replaceChildren();
    if (i < 0) return;
    data.columns.forEach((_, column) => {
      const before = value(scene, "raw", column, i), after = value(scene, state.policy, column, i);
      const fails = first(scene, column, i);
      const row = document.createElement("tr");
      row.append(
        cell("th", data.short[column]), cell("td", tell(before), mark(before)),
        cell("td", tell(after), mark(after)), cell("td", tell(scene.human[column]), mark(scene.human[column])),
        cell("td", fails < 0 ? "–" : (fails / 10).toFixed(1) + " s"));
      row.firstChild.scope = "row";
      row.firstChild.dataset.words = worded(column);
      row.classList.toggle("now", column === state.column);
      body.append(row);
    });
  }
  function scenes() {
    const scene = here();
    document.querySelectorAll("#columns label").forEach((label, column) => {
      label.classList.toggle("fired", scene.fired[column]);
    });
    const own = byId("policies").querySelector("input[value=path]");
    own.disabled = !scene.path;
    own.closest("label").style.opacity = scene.path ? 1 : 0.45;
    if (own.disabled && own.checked) choose("policy", "raw");
    const fired = data.short.filter((_, column) => scene.fired[column]);
    byId("about").textContent = `${scene.location}, log ${scene.log}, token ${scene.token}. ` +
      (fired.length ? `Forgiven: ${fired.join(", ")}.` : "Nothing is forgiven here.") +
      ` ${count(scene)} of ${scene.candidates.toLocaleString("en")} candidates are drawn.`;
    canvas.setAttribute("aria-label",
      `Scene ${scene.token} from above with ${count(scene)} candidates. ` + byId("about").textContent);
  }
  function show() { scenes(); counts(); details(); draw(); }
  function choose(name, wanted) {
    const input = document.querySelector(`input[name=${name}][value="${wanted}"]`);
    if (input) { input.checked = true; state[name] = name === "column" ? Number(wanted) : wanted; }
  }

  // ------------------------------------------------------------------------------ what one does
  function goAt(step) {
    state.step = step;
    byId("step").value = step;
    byId("when").textContent = (step / 10).toFixed(1) + " s";
  }
  function goTo(index) {
    state.scene = index;
    state.candidate = -1;
    stop();
    goAt(0);
    byId("scene").value = index;
    const fired = here().human.findIndex((one, column) => one === 0 && column !== PDM);
    if (fired >= 0 && !here().fired[state.column]) choose("column", fired);
    show();
  }
  byId("scene").addEventListener("change", (event) => goTo(Number(event.target.value)));
  document.querySelectorAll("input[name=column]").forEach((one) => one.addEventListener("change", () => {
    state.column = Number(one.value);
    show();
  }));
  document.querySelectorAll("input[name=policy]").forEach((one) => one.addEventListener("change", () => {
    state.policy = one.value;
    show();
  }));
  byId("step").addEventListener("input", (event) => {
    stop();
    goAt(Number(event.target.value));
    draw();
  });
  // four seconds in four seconds, as everyone drives them
  let playing = 0;
  function stop() {
    clearInterval(playing);
    playing = 0;
    byId("play").textContent = "Play";
  }
  byId("play").addEventListener("click", () => {
    if (playing) { stop(); return; }
    if (state.step === STEPS - 1) goAt(0);
    byId("play").textContent = "Pause";
    playing = setInterval(() => {
      goAt(Math.min(state.step + 1, STEPS - 1));
      if (state.step === STEPS - 1) stop();
      draw();
    }, 100);
  });
  function pick(by) {
    const n = count(here());
    state.candidate = state.candidate < 0 ? (by > 0 ? 0 : n - 1) : (state.candidate + by + n) % n;
    details();
    draw();
  }
  byId("previous").addEventListener("click", () => pick(-1));
  byId("next").addEventListener("click", () => pick(1));
  byId("closer").addEventListener("click", () => { state.zoom = Math.min(state.zoom * 1.5, 8); draw(); });
  byId("farther").addEventListener("click", () => { state.zoom = Math.max(state.zoom / 1.5, 1); draw(); });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (by) { event.preventDefault(); pick(by); }
    if (event.key === "Escape") { state.candidate = -1; details(); draw(); }
  });
  function nearest(event) {
    const size = canvas.getBoundingClientRect(), scene = here();
    const x = (event.clientX - size.left) * frame.ratio, y = (event.clientY - size.top) * frame.ratio;
    let [found, least] = [-1, (14 * frame.ratio) ** 2];
    for (let i = 0; i < count(scene); i++) {
      const flat = path(scene, i);
      for (let k = 0; k < 2 * STEPS; k += 2) {
        const gap = (px(flat[k]) - x) ** 2 + (py(flat[k + 1]) - y) ** 2;
        if (gap < least) [found, least] = [i, gap];
      }
    }
    return found;
  }
  let waiting = false;
  function follow(event) {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      const found = nearest(event);
      if (found >= 0 && found !== state.candidate) { state.candidate = found; details(); draw(); }
    });
  }
  canvas.addEventListener("pointermove", follow);
  canvas.addEventListener("pointerdown", follow);
  new ResizeObserver(() => draw()).observe(canvas);
  // paper is light
  let chosen;
  addEventListener("beforeprint", () => {
    [chosen, root.dataset.theme] = [root.dataset.theme, "light"];
    byId("key").open = true;
    draw();
  });
  addEventListener("afterprint", () => {
    if (chosen) root.dataset.theme = chosen; else delete root.dataset.theme;
    draw();
  });
  choose("column", state.column);
  choose("policy", state.policy);
  goTo(0);
  window.navaudit = { ready: true, state, scenes: data.scenes.length };
})();
