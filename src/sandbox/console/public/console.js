// The console of the sandbox. Its data comes from outside, so the page inserts it as text, never as HTML.

const $ = (id) => document.getElementById(id);

/** Makes an element with properties and children. Strings become text. */
function el(name, properties = {}, ...children) {
  const { data, aria, role, ...rest } = properties;
  const element = Object.assign(document.createElement(name), rest);
  if (role) element.setAttribute('role', role);
  for (const [key, value] of Object.entries(aria ?? {})) element.setAttribute(`aria-${key}`, value);
  for (const [key, value] of Object.entries(data ?? {})) element.dataset[key] = value;
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

const MAX_CALLS = 500;
let token = '';
/** By id, oldest first. */
const calls = new Map();
let chosen;
let filter = '';

// ---- talking to the sandbox

async function get(path) {
  const response = await fetch(`/console${path}`);
  const json = await response.json();
  if (!response.ok) throw new Error(json.error);
  return json;
}

async function act(method, path, body) {
  const response = await fetch(`/console${path}`, {
    method,
    headers: { 'X-Console-Token': token, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const json = await response.json();
  if (!response.ok) throw new Error(json.error);
  return json;
}

/** Runs a button's action and shows the result. */
async function attempt(work, done) {
  try {
    const result = await work();
    notice(...[done?.(result) ?? ''].flat());
  } catch (error) {
    notice(error.message);
  }
}

let noticeEnds;
function notice(...children) {
  $('notice').replaceChildren(...children);
  clearTimeout(noticeEnds);
  noticeEnds = setTimeout(() => $('notice').replaceChildren(), 10_000);
}

function connect() {
  const events = new EventSource('/console/events');
  const live = (text, on) => {
    $('connection').textContent = text;
    $('connection').classList.toggle('live', on);
  };
  events.addEventListener('hello', ({ data }) => {
    const hello = JSON.parse(data);
    token = hello.token;
    $('address').textContent = hello.addresses.join(' and ');
    calls.clear();
    for (const call of hello.calls) calls.set(call.id, call);
    showFaultKinds(hello);
    drawCalls();
    refresh();
    live('live', true);
  });
  events.addEventListener('call', ({ data }) => {
    const call = JSON.parse(data);
    calls.set(call.id, call);
    if (calls.size > MAX_CALLS) calls.delete(calls.keys().next().value);
    soon();
  });
  events.addEventListener('change', () => soon());
  events.addEventListener('error', () => live('the sandbox does not answer', false));
}

/** Draws once for all events that arrive at about the same time. */
let waiting = false;
function soon() {
  if (waiting) return;
  waiting = true;
  setTimeout(() => {
    waiting = false;
    drawCalls();
    refresh();
  }, 50);
}

// ---- views

const VIEWS = ['calls', 'flows', 'accounts', 'faults'];
let view = 'calls';

function show(name) {
  view = name;
  for (const each of VIEWS) {
    const tab = $(`tab-${each}`);
    tab.setAttribute('aria-selected', String(each === name));
    tab.tabIndex = each === name ? 0 : -1;
    $(`panel-${each}`).hidden = each !== name;
  }
  refresh();
}

/** Draws the current view. Calls are drawn as they arrive. */
function refresh() {
  const draw = { flows: drawFlows, accounts: drawAccounts, faults: drawFaults }[view];
  if (draw) draw().catch((error) => notice(error.message));
}

for (const name of VIEWS) {
  $(`tab-${name}`).addEventListener('click', () => show(name));
  $(`tab-${name}`).addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = VIEWS[(VIEWS.indexOf(name) + step + VIEWS.length) % VIEWS.length];
    show(next);
    $(`tab-${next}`).focus();
    event.preventDefault();
  });
}

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    if (view === 'calls') showAll();
    if (event.target.matches('input')) event.target.blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input')) return;
  const number = VIEWS[Number(event.key) - 1];
  if (number) {
    show(number);
    $(`tab-${number}`).focus();
  } else if (event.key === '/') {
    show('calls');
    $('filter').focus();
    event.preventDefault();
  } else if (view === 'calls' && (event.key === 'j' || event.key === 'k')) {
    move(event.key === 'j' ? 1 : -1);
    $('calls').focus();
  }
});

// ---- calls

function wanted() {
  return [...calls.values()]
    .reverse()
    .filter(({ title, method, target, status, decision }) =>
      `${title} ${method} ${target} ${status} ${decision}`.toLowerCase().includes(filter),
    );
}

/** Clears the filter. */
function showAll() {
  filter = '';
  $('filter').value = '';
  drawCalls();
}

function drawCalls() {
  const rows = wanted();
  const known = new Map([...$('calls').children].map((row) => [row.id, row]));
  $('calls').replaceChildren(...rows.map((call) => known.get(`call-${call.id}`) ?? callRow(call)));
  for (const row of $('calls').children)
    row.setAttribute('aria-selected', String(row.id === `call-${chosen}`));
  if (chosen !== undefined && rows.some(({ id }) => id === chosen)) {
    $('calls').setAttribute('aria-activedescendant', `call-${chosen}`);
  } else $('calls').removeAttribute('aria-activedescendant');
  $('no-calls').hidden = calls.size > 0;
}

function callRow({ id, at, title, method, target, status, decision, tone }) {
  const row = el(
    'li',
    { id: `call-${id}`, role: 'option', aria: { selected: 'false' }, title: target },
    el('span', { className: 'title' }, title),
    el(
      'span',
      { className: 'target' },
      el('span', {}, `${method} `),
      // The style cuts a long path at its start. The left-to-right mark keeps the first slash in place.
      el('span', { className: 'path' }, `\u200e${target}`),
    ),
    el(
      'span',
      { className: `status ${tone}` },
      method === 'TLS' ? '' : status === 0 ? 'cut' : String(status),
    ),
    el('span', { className: `decision ${tone}` }, decision),
    el('time', { dateTime: at }, clock(at)),
  );
  row.addEventListener('click', () => choose(id));
  return row;
}

/** `14:03:05` */
function clock(at) {
  return new Date(at).toLocaleTimeString('en-GB');
}

/** `2026-11-22 14:03:05` */
function dayAndClock(at) {
  return new Date(at).toLocaleString('sv-SE');
}

function move(step) {
  const rows = wanted();
  const at = rows.findIndex(({ id }) => id === chosen);
  const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))];
  if (next) void choose(next.id);
}

async function choose(id) {
  chosen = id;
  drawCalls();
  $(`call-${id}`)?.scrollIntoView({ block: 'nearest' });
  try {
    const detail = await get(`/calls/${id}`);
    if (chosen === id) drawDetail(detail);
  } catch (error) {
    $('detail').replaceChildren(el('p', { className: 'empty' }, error.message));
  }
}

$('calls').addEventListener('keydown', (event) => {
  const steps = { ArrowDown: 1, ArrowUp: -1, Home: -MAX_CALLS, End: MAX_CALLS, PageDown: 10, PageUp: -10 };
  const step = steps[event.key];
  if (step) {
    move(step);
    event.preventDefault();
  } else if (event.key === 'Enter') $('detail').focus();
});
$('filter').addEventListener('input', ({ target }) => {
  filter = target.value.trim().toLowerCase();
  drawCalls();
});
$('filter').addEventListener('keydown', ({ key }) => {
  if (key === 'Enter' || key === 'ArrowDown') {
    $('calls').focus();
    move(0);
  }
});
$('clear-calls').addEventListener('click', () => {
  calls.clear();
  chosen = undefined;
  $('detail').replaceChildren();
  drawCalls();
});

function drawDetail(call) {
  const { title, method, target, status, decision, tone, explanation, milliseconds, caller } = call;
  const { signature, warnings } = call;
  if (!call.request) {
    $('detail').replaceChildren(
      verdict(
        tone,
        'The TLS handshake failed',
        `${target}. The client needs a certificate from the sandbox's authority.`,
      ),
    );
    return;
  }
  const facts = [caller, `${milliseconds.toFixed(1)} ms`, dayAndClock(call.at)].filter(Boolean);
  $('detail').replaceChildren(
    el('h2', {}, title),
    verdict(
      tone,
      `${status === 0 ? 'no answer' : status} · ${decision}`,
      explanation,
      ...(warnings ?? []),
      // Why the signature failed. The signing strings follow below.
      ...(signature && signature.verdict !== 'right' ? signature.says : []),
      facts.join(' · '),
    ),
    el('h2', {}, 'Request'),
    el(
      'pre',
      { aria: { label: `Request ${method} ${target}` } },
      `${call.request.head}\n\n${call.request.body}`,
    ),
    el('h2', {}, 'Answer'),
    el('pre', {}, `${call.answer.head}\n\n${pretty(call.answer.body)}`),
    ...signatureParts(signature),
    ...digestParts(call.digest),
    ...certificateParts(call.certificates),
  );
  $('detail').scrollTop = 0;
}

function verdict(tone, title, ...texts) {
  return el(
    'div',
    { className: `verdict ${tone}` },
    el('strong', {}, title),
    ...texts.filter(Boolean).map((text) => el('p', {}, text)),
  );
}

function signatureParts(signature) {
  if (!signature) return [];
  const { computed, received, differsAt, says, verdict: found } = signature;
  const right = found === 'right';
  return [
    el('h2', {}, 'Signing string'),
    ...(right ? says.map((text) => el('p', { className: 'good' }, text)) : []),
    el(
      'div',
      { className: 'pair' },
      el(
        'div',
        {},
        el('h3', {}, 'What the bank computed'),
        marked('What the bank computed', computed, differsAt),
      ),
      right || received === undefined
        ? undefined
        : el(
            'div',
            {},
            el('h3', {}, 'What the client signed'),
            marked('What the client signed', received, differsAt),
          ),
    ),
  ];
}

/** Marks the first difference. Line breaks are visible, so that an extra one shows. */
function marked(label, text, at) {
  const pre = el('pre', { aria: { label } });
  if (at === undefined) {
    pre.append(text);
    return pre;
  }
  const name = { '\n': '␊\n', '\r': '␍', ' ': '␠', undefined: '(end)' }[text[at]] ?? text[at];
  pre.append(
    text.slice(0, at),
    el('mark', { aria: { label: 'first difference' } }, name),
    text.slice(at + 1).replaceAll('\r', '␍'),
  );
  return pre;
}

function digestParts(digest) {
  if (!digest) return [];
  const { computed, received } = digest;
  const fits = computed === received;
  return [
    el('h2', {}, 'Digest'),
    el(
      'p',
      { className: fits ? 'good' : 'bad' },
      fits ? 'Matches the body.' : received === undefined ? 'Not received.' : 'Does not match the body.',
    ),
    el('pre', {}, fits ? computed : `computed ${computed}\nreceived ${received ?? '(none)'}`),
  ];
}

function certificateParts(certificates) {
  if (certificates.length === 0) return [];
  const row = (title, key, show = (text) => text) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, title),
      ...certificates.map((each) => el('td', { className: 'long' }, show(each[key]))),
    );
  return [
    el('h2', {}, 'Certificates'),
    el(
      'table',
      { className: 'certificates' },
      el('tr', {}, el('td', {}), ...certificates.map(({ use }) => el('th', { scope: 'col' }, use))),
      el(
        'tr',
        {},
        el('th', { scope: 'row' }, 'Registered'),
        ...certificates.map(({ registered }) =>
          el('td', { className: registered ? 'good' : 'bad' }, registered ? 'yes' : 'no'),
        ),
      ),
      row('Subject', 'subject'),
      row('Organization identifier', 'organizationIdentifier'),
      row('Issuer', 'issuer'),
      row('Qualified as', 'qcType'),
      row('PSD2 roles', 'roles'),
      row('Authority', 'authority'),
      row('Valid from', 'validFrom', dayAndClock),
      row('Valid to', 'validTo', dayAndClock),
      row('SHA-256', 'sha256'),
    ),
  ];
}

function pretty(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

// ---- flows

function table(caption, titles, rows, empty) {
  if (rows.length === 0) return el('p', { className: 'empty' }, empty);
  // In a narrow window each row is a block, and each cell shows its title. The roles keep it a table.
  const cell = (content, index) => {
    const made = content instanceof Element ? content : el('td', {}, content);
    made.setAttribute('role', 'cell');
    made.dataset.title = titles[index];
    return made;
  };
  const head = titles.map((title) => el('th', { scope: 'col', role: 'columnheader' }, title));
  return el(
    'table',
    { className: 'rows', role: 'table' },
    caption === '' ? undefined : el('caption', {}, caption),
    el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, ...head)),
    el('tbody', { role: 'rowgroup' }, ...rows.map((cells) => el('tr', { role: 'row' }, ...cells.map(cell)))),
  );
}

function time(at) {
  return el('td', { className: 'when' }, el('time', { dateTime: at }, clock(at)));
}

/** Redraws, and keeps the focus on the same button. */
function redraw(place, ...children) {
  const focused = place.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  place.replaceChildren(...children);
  if (focused) place.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

async function drawFlows() {
  const { users, together, doors } = await get('/flows');
  const { cb, ...others } = doors;
  const { logins, resources, consents } = cb;
  redraw(
    $('panel-flows'),
    el('h2', {}, 'Consents and operations'),
    table(
      '',
      ['Started', 'Kind', 'Customer', 'What', 'SCA', 'State', 'Play the customer'],
      resources.map((each) => [
        time(each.createdAt),
        each.kind,
        each.customer,
        el('td', {}, each.about, el('br'), el('code', {}, each.id)),
        el('td', { className: tones[each.sca] ?? '' }, each.sca),
        each.execution,
        el('td', {}, each.open ? decisions(each.id) : ''),
      ]),
      'None yet. A consent or a transfer appears here after the bank creates its resource.',
    ),
    el('h2', {}, 'Payments together'),
    table(
      '',
      ['Began', 'Customer', 'Account', 'Payments', 'Total', 'Each of them'],
      together.map(({ from, customer, account, total, payments }) => [
        time(from),
        customer,
        account,
        String(payments.length),
        `${total} EUR`,
        el(
          'td',
          {},
          ...payments.flatMap(({ to, amount, state }) => [`${amount} EUR to ${to}: ${state}`, el('br')]),
        ),
      ]),
      'None. The payments of a file appear here, and what a customer authorises at once.',
    ),
    el('h2', {}, 'Pending logins'),
    table(
      '',
      ['Started', 'Application', 'Play the customer'],
      logins.map(({ startedAt, application, url, id }) => [
        time(startedAt),
        application,
        el(
          'td',
          {},
          el(
            'div',
            { className: 'bar decide' },
            ...users.map((user) => played(`Log in as ${user}`, '/login', { id, user })),
            played('Refuse', '/login', { id, user: null }),
            el(
              'a',
              { href: url, target: '_blank', rel: 'noopener', data: { key: id } },
              'Open the login page',
            ),
          ),
        ),
      ]),
      'None.',
    ),
    el('h2', {}, 'Consents in force'),
    table(
      '',
      ['Given', 'Customer', 'Category', 'Product', 'Valid until'],
      consents.map(({ givenAt, endsAt, customer, category, productId }) => [
        time(givenAt),
        customer,
        category,
        productId,
        dayAndClock(endsAt),
      ]),
      'None.',
    ),
    ...Object.values(others).flatMap((door) => doorFlows(door, users)),
  );
}

/** What customers have to decide at a further door, and what they gave there. Its orders are at one path. */
function doorFlows({ title, orders: path, requests, devices, consents, payments }, users) {
  return [
    ...devicesShown(devices),
    el('h2', {}, `${title}: requests that wait for a customer`),
    table(
      '',
      ['Request', 'Customer', 'Play the customer'],
      requests.map(({ id, user, url, ...asked }) => [
        el('td', {}, requestText(asked), el('br'), el('code', {}, id)),
        user ?? 'any',
        el(
          'td',
          {},
          el(
            'div',
            { className: 'bar decide' },
            ...(user ? [user] : users).map((name) =>
              played(`Approve as ${name}`, `${path}/decide`, { id, decision: 'approve', user: name }),
            ),
            played('Refuse', `${path}/decide`, { id, decision: 'refuse' }),
            el('a', { href: url, target: '_blank', rel: 'noopener', data: { key: url } }, 'Open the page'),
          ),
        ),
      ]),
      'None.',
    ),
    el('h2', {}, `${title}: payments`),
    table(
      '',
      ['Payment', 'Customer', 'Status', 'Transfers', 'Paid'],
      payments.map(({ paymentId, product, customer, transactionStatus, orders }) => [
        el('td', {}, product, el('br'), el('code', {}, paymentId)),
        customer,
        el('td', { className: paymentTones[transactionStatus] ?? '' }, transactionStatus),
        el('td', {}, ...orders.flatMap((order) => [orderText(order), el('br')])),
        String(orders.reduce((total, { paid }) => total + paid, 0)),
      ]),
      'None.',
    ),
    el('h2', {}, `${title}: consents`),
    table(
      '',
      ['Consent', 'Customer', 'Status', 'Accounts', 'Valid until', 'Play the customer'],
      consents.map(({ id, type, status, customer, until, accounts }) => [
        el('td', {}, type, el('br'), el('code', {}, id)),
        customer,
        el('td', { className: consentTones[status] ?? '' }, status),
        String(accounts),
        until,
        el('td', {}, status === 'valid' ? played('Withdraw', `${path}/revoke`, { consentId: id }, true) : ''),
      ]),
      'None.',
    ),
  ];
}

/** What customers see on their devices, whom a TPP asks for a TAN. Nothing, if no TPP has done so. */
function devicesShown(devices) {
  if (devices.length === 0) return [];
  return [
    el('h2', {}, 'Devices of customers'),
    table(
      '',
      ['At', 'Customer', 'What the device shows', 'TAN'],
      devices.map(({ at, user, text, image, isOpen }) => [
        time(at),
        user,
        el(
          'td',
          {},
          text,
          ...(image
            ? [
                el('br'),
                el('img', { src: `data:image/png;base64,${image}`, alt: 'the picture that was scanned' }),
              ]
            : []),
        ),
        el('td', { className: isOpen ? 'good' : '' }, isOpen ? 'valid' : 'not valid any more'),
      ]),
    ),
  ];
}

/** What a TPP asks a customer for. */
function requestText({ consent, payments }) {
  if (consent) return `consent until ${consent.until}`;
  if (!payments) return 'login';
  const about = payments.all.flatMap(({ orders }) =>
    orders.map(({ name, amount }) => `${amount.amount} ${amount.currency} to ${name}`),
  );
  return `${payments.cancels ? 'cancellation' : 'payment'} of ${about.join(', ')}`;
}

function orderText({ amount, creditorName, endToEndId }) {
  return `${amount} EUR to ${creditorName}${endToEndId ? `, ${endToEndId}` : ''}`;
}

const paymentTones = { ACSC: 'good', ACCC: 'good', ACSP: 'good', RJCT: 'bad', CANC: 'bad', PART: 'bad' };

const consentTones = {
  valid: 'good',
  rejected: 'bad',
  revokedByPsu: 'bad',
  expired: 'bad',
  terminatedByTpp: 'bad',
};

const tones = { AUTHORIZED: 'good', NOT_AUTHORIZED: 'bad', EXPIRED: 'bad' };

/**
 * A button that decides for the customer. A new window then returns to the TPP, unless the request just expires (`stays`).
 */
function played(text, path, order, stays = false) {
  const made = el('button', { type: 'button', data: { key: `${path} ${JSON.stringify(order)}` } }, text);
  made.addEventListener('click', () => {
    // Browsers allow a new window only directly after the click, before the bank answers.
    const back = stays ? null : window.open('about:blank', '_blank');
    if (back) back.opener = null;
    void attempt(
      () =>
        act('POST', path, order).catch((error) => {
          back?.close();
          throw error;
        }),
      ({ returnTo }) => {
        if (returnTo) back?.location.replace(returnTo);
        else back?.close();
        return back || stays || !returnTo
          ? `${text}: done.`
          : [
              `${text}: done. The browser blocked the window that returns to the application: `,
              el('a', { href: returnTo, target: '_blank', rel: 'noopener noreferrer' }, 'open it'),
            ];
      },
    );
  });
  return made;
}

function decisions(resourceId) {
  const button = (text, decision) =>
    played(text, '/decide', { resourceId, decision }, decision === 'EXPIRED');
  return el(
    'div',
    { className: 'bar decide' },
    button('Approve', 'AUTHORIZED'),
    button('Refuse', 'NOT_AUTHORIZED'),
    button('Expire', 'EXPIRED'),
  );
}

// ---- accounts

let customer = '';
let account;

async function drawAccounts() {
  const customers = await get(`/accounts${customer === '' ? '' : `?user=${encodeURIComponent(customer)}`}`);
  redraw(
    $('accounts'),
    ...(customers.length === 0 ? [el('p', { className: 'empty' }, `There is no customer ${customer}.`)] : []),
    ...customers.map(({ user, name, customerId, products }) =>
      table(
        `${name} · ${user} · ${customerId}`,
        ['Product', 'Kind', 'Name', 'IBAN', 'Booked', 'Available', 'Ledger'],
        products.map(({ productId, kind, name: own, iban, booked, available }) => {
          const button = el('button', { type: 'button', data: { key: productId } }, 'Show');
          button.setAttribute('aria-label', `Show the ledger of ${productId}`);
          button.addEventListener('click', async () => {
            account = productId;
            await drawLedger();
            $('ledger').focus({ preventScroll: true });
            $('ledger').scrollIntoView();
          });
          return [productId, kind, own, iban, amount(booked), amount(available), el('td', {}, button)];
        }),
        'No products.',
      ),
    ),
  );
  await drawLedger();
}

function amount(text) {
  return el('td', { className: `amount ${text.startsWith('-') ? 'bad' : ''}` }, `${text} EUR`);
}

async function drawLedger() {
  if (account === undefined) return;
  const { productId, count, entries } = await get(`/accounts/${encodeURIComponent(account)}`);
  $('ledger').replaceChildren(
    table(
      `Ledger of ${productId}: the newest of ${count}`,
      ['Day', 'State', 'Amount', 'What', 'Reference'],
      entries.map((entry) => [entry.day, entry.state, amount(entry.amount), entry.text, entry.reference]),
      'No transactions.',
    ),
  );
}

$('customer-form').addEventListener('submit', (event) => {
  event.preventDefault();
  customer = $('customer').value.trim();
  account = undefined;
  $('ledger').replaceChildren();
  refresh();
});

// ---- faults

function showFaultKinds({ faults, endpoints }) {
  $('endpoints').replaceChildren(...endpoints.map((value) => el('option', { value })));
  if ($('fault-kinds').children.length > 0) return;
  $('fault-kinds').replaceChildren(
    ...faults.map(({ kind, says, value }, index) => {
      const radio = el('input', { type: 'radio', name: 'kind', value: kind, checked: index === 0 });
      const choose = () => {
        $('fault-value').disabled = !value;
        $('fault-value').value = value ? ({ delay: '1000', clock: '7', status: '503' }[kind] ?? '') : '';
        $('fault-value').placeholder = value?.unit ?? '';
      };
      radio.addEventListener('change', choose);
      if (index === 0) choose();
      return el('label', {}, radio, el('span', {}, kind, el('small', {}, says)));
    }),
  );
}

$('customer-orders').addEventListener('submit', (event) => {
  event.preventDefault();
  const name = $('ordered-customer').value.trim();
  const order = event.submitter?.value ?? 'reset';
  void attempt(
    () =>
      order === 'add'
        ? act('POST', '/customers', { user: name })
        : act('POST', `/customers/${encodeURIComponent(name)}/${order}`),
    ({ revoked, customerId, password }) => {
      if (revoked !== undefined) return `Consents revoked: ${revoked}.`;
      return order === 'add' ? `Added customer ${customerId}, password ${password}.` : `Reset ${name}.`;
    },
  );
});

$('clock-form').addEventListener('submit', (event) => {
  event.preventDefault();
  void attempt(
    () => act('POST', '/clock', { forwardSeconds: Number($('clock-days').value.trim()) * 86_400 }),
    ({ time }) => `The bank's time is ${time}.`,
  );
});

$('fault-form').addEventListener('submit', (event) => {
  event.preventDefault();
  const kind = document.querySelector('input[name=kind]:checked').value;
  const [value, on, times, name, minutes] = [
    'fault-value',
    'fault-on',
    'fault-times',
    'fault-customer',
    'fault-minutes',
  ].map((id) => $(id).value.trim());
  void attempt(
    () =>
      act('POST', '/faults', {
        fault: $('fault-value').disabled ? kind : `${kind}=${value}`,
        ...(on !== '' && { on }),
        ...(times !== '' && { times: Number(times) }),
        ...(name !== '' && { customer: name }),
        ...(minutes !== '' && { forSeconds: Number(minutes) * 60 }),
      }),
    ({ fault }) => `Added: ${fault}`,
  );
});

async function drawFaults() {
  const [faults, { time, aheadSeconds }] = await Promise.all([get('/faults'), get('/clock')]);
  $('bank-time').textContent = `${time}, ${aheadSeconds} seconds ahead of the real time`;
  redraw(
    $('faults'),
    table(
      '',
      ['Fault', 'On', 'Customer', 'Until', 'Times', 'Calls seen', 'Applied', ''],
      faults.map(({ id, fault, on, customer: whose, until, times, seen, fired }) => {
        const remove = el('button', { type: 'button', data: { key: `fault ${id}` } }, 'Clear');
        remove.setAttribute('aria-label', `Clear ${fault}`);
        remove.addEventListener('click', () => attempt(() => act('DELETE', `/faults/${id}`)));
        return [
          fault,
          on ?? 'every call',
          whose ?? 'everyone',
          until ?? 'cleared',
          times === null ? 'always' : String(times),
          String(seen),
          String(fired),
          el('td', {}, remove),
        ];
      }),
      'No active faults.',
    ),
  );
}

$('clear-faults').addEventListener(
  'click',
  () =>
    void attempt(
      () => act('DELETE', '/faults'),
      ({ cleared }) => `Faults cleared: ${cleared}.`,
    ),
);
$('reset').addEventListener('click', () => {
  const question = 'Reset the sandbox? All logins, consents, payments, faults and added customers are lost.';
  if (!window.confirm(question)) return;
  void attempt(
    () => act('POST', '/reset'),
    () => 'The sandbox is reset. Log in again.',
  );
});

/** Opens the view that the address names, for example `#flows`. */
function showNamed() {
  const name = location.hash.slice(1);
  if (VIEWS.includes(name)) show(name);
}

window.addEventListener('hashchange', showNamed);
connect();
showNamed();
