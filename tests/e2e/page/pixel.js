// A small pixel: tells a collector what kinds of events happen on a page, how many and when. Never what was typed,
// chosen or copied.
(() => {
  const FLUSH_MS = 200;
  const TRAIL_LENGTH = 6;
  const TYPES = {
    mousemove: 'mouse',
    mousedown: 'mouse',
    click: 'mouse',
    scroll: 'scroll',
    keydown: 'keyboard',
    touchstart: 'touch',
    change: 'form',
    submit: 'form',
    copy: 'clipboard',
    paste: 'clipboard',
    visibilitychange: 'visibility',
  };

  // One session for all pages of a tab.
  const session = JSON.parse(sessionStorage.getItem('pixel') ?? 'null') ?? {
    id: crypto.randomUUID(),
    startedAt: new Date().toISOString(),
    pageUrl: location.href,
  };
  sessionStorage.setItem('pixel', JSON.stringify(session));
  const pending = new Map();
  const trail = [];
  let pointer = { trails: 0, lines: 0 };

  /** Counts through all pages of the session: a page may still tell while the next one loads. */
  function takeSequence() {
    const sequence = Number(sessionStorage.getItem('pixel-sequence'));
    sessionStorage.setItem('pixel-sequence', String(sequence + 1));
    return sequence;
  }

  function count(type) {
    const now = Date.now();
    const event = pending.get(type) ?? { type, url: location.origin + location.pathname, from: now, eventCount: 0 };
    event.eventCount++;
    event.to = now;
    pending.set(type, event);
  }

  /** Notes whether the pointer's last moves make a line, as no hand draws it. */
  function follow({ clientX, clientY }) {
    trail.push({ x: clientX, y: clientY });
    if (trail.length < TRAIL_LENGTH) return;
    const length = (a, b) => Math.hypot(b.x - a.x, b.y - a.y);
    const travelled = trail.slice(1).reduce((sum, point, i) => sum + length(trail[i], point), 0);
    pointer.trails++;
    if (length(trail[0], trail[TRAIL_LENGTH - 1]) > travelled * 0.995) pointer.lines++;
    trail.shift();
  }

  function fingerprint() {
    const traits = [
      navigator.userAgent,
      navigator.language,
      navigator.hardwareConcurrency,
      screen.width,
      screen.height,
    ];
    let hash = 2166136261;
    for (const character of traits.join('|')) hash = Math.imul(hash ^ character.charCodeAt(0), 16777619) >>> 0;
    return `fp-${hash.toString(16).padStart(8, '0')}`;
  }

  function flush() {
    if (pending.size === 0) return;
    const events = [...pending.values()].map(({ from, to, ...event }) => ({
      ...event,
      sequence: takeSequence(),
      timestamp: new Date(from).toISOString(),
      durationMs: to - from,
      ...(event.type === 'mouse' ? { metadata: pointer } : {}),
    }));
    pending.clear();
    pointer = { trails: 0, lines: 0 };
    const { id, startedAt, pageUrl } = session;
    const client = { userAgent: navigator.userAgent, webdriver: navigator.webdriver, fingerprint: fingerprint() };
    navigator.sendBeacon('/collect', JSON.stringify({ sessionId: id, startedAt, pageUrl, ...client, events }));
  }

  for (const [name, type] of Object.entries(TYPES)) {
    document.addEventListener(name, () => count(type), { capture: true, passive: true });
  }
  document.addEventListener('mousemove', follow);
  if (location.href !== session.pageUrl) count('navigation');
  setInterval(flush, FLUSH_MS);
  // The last word of a page that is left.
  document.addEventListener('visibilitychange', flush);
})();
