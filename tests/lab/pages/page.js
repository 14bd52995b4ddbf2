// The laboratory's own script of its pages. It is the same for programs and people: it tells where things are, and lets
// BotD judge the visit once. It listens to nothing.
(() => {
  const { run } = document.currentScript.dataset;
  const EVERY_MS = 100;
  // The first batch of the pixel goes out after 1 s.
  const BOTD_AFTER_MS = 1_400;
  const post = (path, body) => fetch(`/${run}/${path}`, { method: 'POST', body }).catch(() => {});

  function look() {
    const boxOf = (element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return { x, y, width, height };
    };
    const boxes = {};
    const labels = {};
    const values = {};
    for (const element of document.querySelectorAll('main [id]')) {
      const name = `#${element.id}`;
      const box = boxOf(element);
      if (box.width > 0) boxes[name] = box;
      if (element.labels?.[0]) labels[name] = boxOf(element.labels[0]);
      if (element.type === 'radio' || element.type === 'checkbox') values[name] = element.checked;
      else if (element.matches('input, textarea')) values[name] = element.value;
    }
    const { screenX, screenY, outerWidth, outerHeight, innerWidth, innerHeight, devicePixelRatio } = window;
    const corner = { innerX: window.mozInnerScreenX ?? null, innerY: window.mozInnerScreenY ?? null };
    const size = { screenX, screenY, outerWidth, outerHeight, innerWidth, innerHeight, pixelRatio: devicePixelRatio };
    return {
      path: location.pathname,
      window: { ...size, ...corner },
      scrollY,
      scrollHeight: document.documentElement.scrollHeight,
      hasFocus: document.hasFocus(),
      focus: document.activeElement?.id ? `#${document.activeElement.id}` : null,
      boxes,
      labels,
      values,
    };
  }

  let last = '';
  setInterval(() => {
    const now = JSON.stringify(look());
    if (now === last) return;
    last = now;
    post('geometry', JSON.stringify({ atMs: performance.timeOrigin + performance.now(), geometry: now }));
  }, EVERY_MS);

  if (location.pathname !== `/${run}/start`) return;
  setTimeout(async () => {
    try {
      const { load } = await import('/botd.js');
      const detector = await load({ monitoring: false });
      const verdict = detector.detect();
      post('botd', JSON.stringify({ bot: verdict.bot, botKind: verdict.botKind ?? null }));
    } catch (error) {
      post('botd', JSON.stringify({ error: String(error) }));
    }
  }, BOTD_AFTER_MS);
})();
