// The dashboard: draws each telemetry line as it comes, keeps ten minutes of it, steers through the API.
// Nothing is reckoned here that the line already says; a cell's exact value stands in its data-value.
"use strict";

(() => {
  const kept = 600;          // points a plot keeps: ten minutes at a tick a second
  const pageSize = 50;       // streams a page
  const plottedStreams = 8;  // lines in the plot of streams
  // Told apart by those who do not see all colours too; brighter on a dark page.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const onLight = ["#0072b2", "#d55e00", "#008060", "#b0548a", "#946200", "#2a86bd", "#6b6b6b", "#7d5f28"];
  const onDark = ["#56b4e9", "#ff8c42", "#3ddba5", "#ee9fcb", "#f0c040", "#8fd3ff", "#b0b0b0", "#d2b06a"];
  const $ = id => document.getElementById(id);

  // ---- Numbers

  const whole = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
  const short = new Intl.NumberFormat("en", {maximumFractionDigits: 3});
  const three = new Intl.NumberFormat("en", {maximumSignificantDigits: 3});

  function scaled(value) {
    for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
      if (Math.abs(value) >= size) return short.format(value / size) + " " + unit;
    }
    return short.format(value);
  }

  function time(ns) {
    for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
      if (Math.abs(ns) >= size) return three.format(ns / size) + " " + unit;
    }
    return whole.format(ns) + " ns";
  }

  const formats = {
    count: value => whole.format(value),
    rate: scaled,
    time,
    ppm: value => (Math.abs(value) < 100 ? short : whole).format(value),
    ratio: value => short.format(value),
    percent: value => whole.format(value * 100) + " %",
  };

  // "ports[].tx.pps" of an object that may lack any part of it.
  function pick(object, path) {
    let value = object;
    for (const name of path.split(".")) {
      if (value === null || value === undefined) return null;
      value = value[name];
    }
    return value === undefined ? null : value;
  }

  function elapsedText(seconds) {
    const whole_seconds = Math.floor(seconds);
    const parts = [Math.floor(whole_seconds / 3600), Math.floor(whole_seconds / 60) % 60, whole_seconds % 60];
    return parts.map(part => String(part).padStart(2, "0")).join(":");
  }

  // ---- The service

  let token = sessionStorage.getItem("volley-token") || "";

  function ask(method, path, body) {
    const headers = token ? {Authorization: "Bearer " + token} : {};
    if (body !== undefined) headers["Content-Type"] = "application/json";
    return fetch(path, {method, headers, body: body === undefined ? undefined : JSON.stringify(body)});
  }

  function say(text) {
    $("answer").textContent = text;
    $("answer").hidden = !text;
  }

  async function steer(method, path, body) {
    say("");
    try {
      const response = await ask(method, path, body);
      if (response.ok) {
        note(`${method} ${path} ${body === undefined ? "" : JSON.stringify(body)}`.trim());
        return;
      }
      const error = (await response.json()).error;
      say([error.message, error.hint].filter(Boolean).join(": "));
    } catch (error) {
      say("The service did not answer: " + error.message);
    }
  }

  // ---- Events

  function note(text) {
    const item = document.createElement("li");
    item.textContent = clock(Date.now() / 1000) + "  " + text;
    $("events").prepend(item);
    while ($("events").children.length > 200) $("events").lastChild.remove();
  }

  // ---- Tables: rows are made once and refilled, so that a selection or a focus survives a tick

  function fill(table, rows, columns) {
    const body = table.tBodies[0];
    while (body.rows.length > rows.length) body.deleteRow(-1);
    rows.forEach((row, r) => {
      const line = body.rows[r] || body.insertRow();
      columns.forEach((column, c) => {
        const cell = line.cells[c] || line.insertCell();
        const value = column.of(row);
        const text = value === null ? "–" : column.as ? formats[column.as](value) : String(value);
        if (cell.textContent !== text) cell.textContent = text;
        if (value === null) delete cell.dataset.value; else cell.dataset.value = value;
        if (column.as === "time" && value !== null) cell.title = whole.format(value) + " ns";
        if (c === 0) cell.title = text;
        cell.className = [column.as || column.right ? "n" : "", column.mark ? column.mark(row) : ""].join(" ").trim();
      });
      line.dataset.name = row.name;
    });
  }

  const at = path => row => pick(row, path);
  const bad = path => row => (pick(row, path) > 0 ? "bad" : "");

  const portColumns = [
    {of: at("name")},
    {of: port => (port.link.up ? "up " + (port.link.speed_bps ? scaled(port.link.speed_bps) + "bit/s" : "") : "down: " + (port.link.reason || "no link")),
      mark: port => (port.link.up ? "up" : "down")},
    {of: at("tx.packets"), as: "count"}, {of: at("tx.pps"), as: "rate"}, {of: at("tx.l1_bps"), as: "rate"}, {of: at("tx.l2_bps"), as: "rate"},
    {of: at("tx.unsent"), as: "count", mark: bad("tx.unsent")},
    {of: at("rx.packets"), as: "count"}, {of: at("rx.pps"), as: "rate"}, {of: at("rx.missed"), as: "count", mark: bad("rx.missed")},
    {of: at("rx.unmatched"), as: "count"},
    {of: at("tail"), as: "ratio"},
  ];
  const streamColumns = [
    {of: at("name")}, {of: at("state")},
    {of: at("tx.packets"), as: "count"}, {of: at("tx.pps"), as: "rate"}, {of: at("target_pps"), as: "rate"},
    {of: at("rate_error_ppm"), as: "ppm"}, {of: at("shortfall_packets"), as: "count", mark: bad("shortfall_packets")},
    {of: at("lateness_ns.p99"), as: "time"}, {of: at("rx.packets"), as: "count"},
    {of: at("rx.lost"), as: "count", mark: bad("rx.lost")}, {of: at("rx.duplicates"), as: "count", mark: bad("rx.duplicates")},
    {of: at("rx.reordered"), as: "count", mark: bad("rx.reordered")}, {of: at("rx.corrupted"), as: "count", mark: bad("rx.corrupted")},
    {of: at("rx.latency_ns.p50"), as: "time"}, {of: at("rx.latency_ns.p99"), as: "time"},
  ];
  const workerColumns = [
    {of: at("name")}, {of: at("lcore"), as: "count"}, {of: at("busy_ratio"), as: "percent"}, {of: at("cycles_per_packet"), as: "ratio"},
    {of: worker => (worker.ring ? worker.ring.occupancy + " of " + worker.ring.capacity : null), right: true},
    {of: worker => (worker.mempool ? worker.mempool.free + " of " + worker.mempool.size : null), right: true},
  ];

  function clock(seconds) {
    return new Date(seconds * 1000).toLocaleTimeString("en-GB");
  }

  // ---- Plots: null where a line has no value, so a gap is a gap

  class Plot {
    constructor(id, text) {
      this.holder = $(id);
      this.text = text;  // of a value
      this.labels = [];
      this.data = [[]];
      this.plot = null;
    }

    add(time, values) {
      const labels = Object.keys(values);
      if (labels.join("\n") !== this.labels.join("\n")) this.relabel(labels);
      this.data[0].push(time);
      labels.forEach((label, i) => this.data[i + 1].push(values[label]));
      if (this.data[0].length > kept) this.data.forEach(column => column.shift());
      if (!this.plot) return;
      this.plot.setData(this.data);
      this.latest();
    }

    // Where no cursor says which values, the legend has the latest.
    latest() {
      if (this.data[0].length && !(this.plot.cursor.left >= 0)) this.plot.setLegend({idx: this.data[0].length - 1});
    }

    relabel(labels) {
      const old = new Map(this.labels.map((label, i) => [label, this.data[i + 1]]));
      const empty = () => new Array(this.data[0].length).fill(null);
      this.data = [this.data[0], ...labels.map(label => old.get(label) || empty())];
      this.labels = labels;
      this.draw();
    }

    // Anew, with the colours that fit the page.
    draw() {
      if (!window.uPlot || !this.labels.length) return;
      if (this.plot) this.plot.destroy();
      const colours = dark.matches ? onDark : onLight;
      const names = this.labels.map(label => label.replace(/ [TR]X$/, ""));
      const shown = [...new Set(names)];
      const ink = getComputedStyle(document.body).color;
      const axis = {stroke: ink, grid: {stroke: "#8884"}, ticks: {stroke: "#8884"}};
      this.plot = new uPlot({
        width: this.width(), height: 200, cursor: {y: false},
        scales: {x: {range: (_, low, high) => [low, Math.max(high, low + 60)]}, y: {range: (_, low, high) => [Math.min(0, low || 0), 1.05 * Math.max(1e-9, high || 1)]}},
        axes: [{...axis, space: 80, values: (_, ticks) => ticks.map(clock)}, {...axis, size: 70, values: (_, ticks) => ticks.map(this.text)}],
        // A port has one colour; what it receives is dashed, so that it does not hide what it sends.
        series: [{label: "Time", value: (_, value) => (value === null ? "–" : clock(value))},
          ...this.labels.map((label, i) => ({label, stroke: colours[shown.indexOf(names[i]) % colours.length], width: 2, spanGaps: false,
            dash: label.endsWith(" RX") ? [4, 6] : undefined, value: (_, value) => (value === null || value === undefined ? "–" : this.text(value))}))],
        hooks: {setCursor: [plot => { if (this.plot === plot) this.latest(); }]},
      }, this.data, this.holder);
      this.latest();
    }

    width() { return Math.max(240, this.holder.clientWidth); }
    resize() { if (this.plot) this.plot.setSize({width: this.width(), height: 200}); }
  }

  const plots = {};
  for (const [name, text] of Object.entries({ports: scaled, streams: scaled, lateness: time, latency: time, tail: formats.ratio, loss: scaled}))
    plots[name] = new Plot("chart-" + name, text);
  dark.addEventListener("change", () => Object.values(plots).forEach(plot => plot.draw()));
  window.addEventListener("resize", () => Object.values(plots).forEach(plot => plot.resize()));
  if (!window.uPlot) document.querySelector(".charts").hidden = true;

  function worst(streams, path) {
    let out = null;
    for (const stream of streams) {
      const value = pick(stream, path);
      if (value !== null && (out === null || value > out)) out = value;
    }
    return out;
  }

  function sum(streams, path) {
    const values = streams.map(stream => pick(stream, path)).filter(value => value !== null);
    return values.length ? values.reduce((a, b) => a + b, 0) : null;
  }

  function tailRatio(line, port) {
    const queues = line.queues.filter(queue => queue.port === port && queue.tx && queue.tx.packets > 0);
    const packets = queues.reduce((total, queue) => total + queue.tx.packets, 0);
    return packets ? queues.reduce((total, queue) => total + queue.tx.tail_writes, 0) / packets : null;
  }

  function plot(line) {
    const time = line.time_unix_ns / 1e9;
    const ports = {};
    const tails = {};
    for (const port of line.ports) {
      if (port.tx) ports[port.name + " TX"] = port.tx.pps;
      if (port.rx) ports[port.name + " RX"] = port.rx.pps;
      if (port.tx) tails[port.name] = tailRatio(line, port.name);
    }
    plots.ports.add(time, ports);
    plots.tail.add(time, tails);
    plots.streams.add(time, Object.fromEntries(line.streams.slice(0, plottedStreams).map(stream => [stream.name, pick(stream, "tx.pps")])));
    $("plotted").textContent = line.streams.length > plottedStreams ? `, the first ${plottedStreams}` : "";
    plots.lateness.add(time, {p50: worst(line.streams, "lateness_ns.p50"), p99: worst(line.streams, "lateness_ns.p99")});
    plots.latency.add(time, {p50: worst(line.streams, "rx.latency_ns.p50"), p99: worst(line.streams, "rx.latency_ns.p99")});
    plots.loss.add(time, {lost: sum(line.streams, "rx.lost")});
  }

  // ---- A line

  let last = null;

  function notice(line) {
    if (last === null) {
      note("connected; state " + line.state + ", generation " + line.generation);
      line.warnings.forEach(note);
      return;
    }
    if (line.sequence < last.sequence) note("volleyd was restarted");
    if (line.state !== last.state) note("state " + last.state + " → " + line.state);
    if (line.generation !== last.generation) note("generation " + line.generation);
    for (const port of line.ports) {
      const before = last.ports.find(other => other.name === port.name);
      if (before && before.link.up !== port.link.up) note("link of " + port.name + (port.link.up ? " up" : " down"));
    }
    for (const warning of line.warnings) {
      if (!last.warnings.includes(warning)) note(warning);
    }
  }

  function show(line) {
    notice(line);
    $("state").textContent = line.state;
    $("state").className = "state " + line.state;
    $("run-id").textContent = line.run_id || "–";
    $("generation").textContent = line.generation;
    $("elapsed").textContent = elapsedText((line.duration_ns || 0) / 1e9);
    $("start").disabled = line.state !== "idle";
    $("stop").disabled = line.state !== "running";
    $("warnings").replaceChildren(...line.warnings.map(text => Object.assign(document.createElement("li"), {textContent: text})));
    fill($("ports"), line.ports.map(port => ({...port, tail: tailRatio(line, port.name)})), portColumns);
    fill($("workers"), line.workers, workerColumns);
    plot(line);
    document.body.dataset.sequence = line.sequence;
    last = line;
    if (!document.hidden) showStreams();
  }

  // ---- Streams: a page of them, asked for, since a line holds the first ones only

  let offset = 0;
  let asking = false;
  let mayChange = false;

  async function showStreams() {
    if (asking) return;
    asking = true;
    try {
      const pattern = $("filter").value.trim() || "*";
      const response = await ask("GET", `/api/v1/streams?name=${encodeURIComponent(pattern)}&offset=${offset}&limit=${pageSize}`);
      if (!response.ok) return;
      const answer = await response.json();
      if (offset > 0 && offset >= answer.total) offset = 0;
      fill($("streams"), answer.streams, streamColumns);
      addSteering(answer.streams);
      const first = answer.total ? offset + 1 : 0;
      $("page").textContent = `${first}–${Math.min(offset + pageSize, answer.total)} of ${answer.total}`;
      $("previous").disabled = offset === 0;
      $("next").disabled = offset + pageSize >= answer.total;
    } catch {
      // The connection's own banner tells.
    } finally {
      asking = false;
    }
  }

  function addSteering(streams) {
    if (!mayChange) return;
    streams.forEach((stream, r) => {
      const line = $("streams").tBodies[0].rows[r];
      let cell = line.cells[streamColumns.length];
      if (!cell) {
        cell = line.insertCell();
        const rate = Object.assign(document.createElement("input"), {placeholder: "rate, 10kpps"});
        const pause = Object.assign(document.createElement("button"), {type: "button"});
        const name = () => encodeURIComponent(line.dataset.name);
        rate.addEventListener("change", () => steer("PATCH", "/api/v1/streams/" + name(), {rate: rate.value.trim()}).then(() => { rate.value = ""; }));
        pause.addEventListener("click", () => steer("PATCH", "/api/v1/streams/" + name(), {paused: pause.textContent === "Pause"}));
        cell.append(rate, " ", pause);
      }
      cell.firstChild.setAttribute("aria-label", "New rate of " + stream.name);
      cell.lastChild.textContent = stream.state === "paused" ? "Resume" : "Pause";
    });
  }

  $("filter").addEventListener("input", () => { offset = 0; showStreams(); });
  $("previous").addEventListener("click", () => { offset = Math.max(0, offset - pageSize); showStreams(); });
  $("next").addEventListener("click", () => { offset += pageSize; showStreams(); });
  $("start").addEventListener("click", () => steer("POST", "/api/v1/start"));
  $("stop").addEventListener("click", () => steer("POST", "/api/v1/stop"));
  $("clear").addEventListener("click", () => steer("POST", "/api/v1/clear"));
  $("token-form").addEventListener("submit", event => {
    event.preventDefault();
    token = $("token").value.trim();
    sessionStorage.setItem("volley-token", token);
    $("token-form").hidden = true;
  });

  // ---- The connection: server-sent events by fetch, for EventSource cannot send a token

  let lost = false;

  function connection(text) {
    $("connection").textContent = text;
    $("connection").hidden = !text;
    if (text && !lost) note(text);
    if (text) $("state").className = "state lost";
    lost = Boolean(text);
  }

  async function learnState() {
    const response = await ask("GET", "/api/v1/state");
    if (!response.ok) return;
    const state = await response.json();
    $("name").textContent = state.name || "";
    document.title = (state.name ? state.name + " – " : "") + "Volley";
    mayChange = state.may_change === true;
    $("steer").hidden = !mayChange;
  }

  function take(event) {
    const data = event.split("\n").filter(row => row.startsWith("data: ")).map(row => row.slice(6)).join("\n");
    if (data) show(JSON.parse(data));
  }

  async function follow() {
    const response = await ask("GET", "/api/v1/events");
    if (response.status === 401) {
      $("token-form").hidden = false;
      throw new Error("a token is needed");
    }
    if (!response.ok) throw new Error("status " + response.status);
    await learnState();
    if (lost) note("connected again");
    connection("");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; ;) {
      const {value, done} = await reader.read();
      if (done) throw new Error("volleyd closed the connection");
      text += value;
      for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) take(text.slice(0, end));
    }
  }

  async function run() {
    for (;;) {
      try {
        await follow();
      } catch (error) {
        connection(`No connection to volleyd (${error.message}); trying again every second.`);
      }
      await new Promise(resolve => setTimeout(resolve, 1000));
    }
  }

  run();
})();
