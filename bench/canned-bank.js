// A bank that needs almost no CPU: nginx with mutual TLS, and answers from files that are the same for every customer. It
// does not check requests. For the benches that measure psd2 itself on more than one core.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processorSeconds } from './measure.js';
import { PROGRAM } from './operator.js';

const RELAY = fileURLToPath(new URL('slow-relay.js', import.meta.url));
const ACCOUNTS = 3;
const ROWS = 25;
const PENDING = 2;

/** Why this bank can't run (nginx is not installed), or undefined if it can. */
export function whyNoCannedBank() {
  const { error, status } = spawnSync('nginx', ['-v'], { stdio: 'ignore', env: withSbin() });
  if (!error && status === 0) return undefined;
  return 'nginx is not installed (Debian: apt install nginx). The benches that need a bank with almost no CPU time are skipped.';
}

/**
 * Starts the bank, with a profile `canned` and logged-in customers in a separate configuration folder.
 *
 * @param core the only core that nginx runs on; undefined: all cores
 * @param answerMs how long an answer is delayed, without CPU time; undefined: no delay
 */
export async function openCannedBank({ customers, core, answerMs }) {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-canned-'));
  const at = (name) => join(folder, name);
  const env = {
    ...process.env,
    PSD2_CONFIG_DIR: at('config'),
    PSD2_PROFILE: 'canned',
    PSD2_CLIENT_SECRET: 'not-checked',
    HOME: at('home'),
  };
  mkdirSync(env.HOME);
  const run = (...words) =>
    execFileSync(process.execPath, [PROGRAM, ...words], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
    });
  run('cert', 'generate', '--out', at('tpp'));
  execFileSync(
    'openssl',
    [
      ...[
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-keyout',
        at('bank-key.pem'),
        '-out',
        at('bank.pem'),
      ],
      ...['-days', '2', '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'],
    ],
    { stdio: 'ignore' },
  );
  const port = await freePort();
  writeFileSync(at('nginx.conf'), configuration(folder, port));
  const start = ['nginx', '-p', folder, '-c', at('nginx.conf'), '-e', at('error.log')];
  const [program, ...words] = core === undefined ? start : ['taskset', '-c', core, ...start];
  const nginx = spawn(program, words, { stdio: 'ignore', env: withSbin() });
  await reachable(port, nginx);
  const relay = answerMs === undefined ? undefined : await startRelay(port, answerMs);
  const baseUrl = `https://127.0.0.1:${relay?.port ?? port}`;

  run(
    ...['profile', 'add', 'canned', '--base-url', baseUrl, '--client-id', 'canned'],
    ...['--app-name', 'canned', '--environment', 'sandbox', '--ca', at('bank.pem')],
    ...['--qwac-cert', at('tpp/qwac.pem'), '--qwac-key', at('tpp/qwac-key.pem')],
    ...['--qseal-cert', at('tpp/qseal.pem'), '--qseal-key', at('tpp/qseal-key.pem')],
  );
  logInMany(at('config/tokens/canned'), customers, `${baseUrl}/`);
  return {
    env,
    folder,
    /** The environment of `sync-undici.js`, without `OUT`. */
    scriptEnv: {
      BASE_URL: baseUrl,
      CERTIFICATES: at('tpp'),
      CA: at('bank.pem'),
      CUSTOMERS: String(customers),
    },
    /** CPU seconds that the bank has used until now. */
    processorSeconds: () => processorSeconds(workerOf(nginx.pid)),
    async close() {
      relay?.stop();
      nginx.kill('SIGTERM');
      if (nginx.exitCode === null) await once(nginx, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startRelay(port, answerMs) {
  const child = spawn(process.execPath, [RELAY, String(port), String(answerMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(child.stdout.setEncoding('utf8'), 'data');
  return { port: Number(said), stop: () => child.kill() };
}

/** The nginx process that answers. The one that `spawn` started only supervises it. */
function workerOf(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}

/** Stores tokens that need no renewal for a day. */
function logInMany(folder, count, baseUrl) {
  const accessTokenExpiresAt = new Date(Date.now() + 86_400_000).toISOString();
  for (let number = 1; number <= count; number += 1) {
    const tokens = { accessToken: `canned-${number}`, refreshToken: null, refreshTokenExpiresAt: null };
    const ofCustomer = join(folder, `customer-${5_000_000 + number}`);
    mkdirSync(ofCustomer, { recursive: true, mode: 0o700 });
    writeFileSync(
      join(ofCustomer, '1.json'),
      JSON.stringify({ ...tokens, accessTokenExpiresAt, scope: null, baseUrl }),
      {
        mode: 0o600,
      },
    );
  }
}

function configuration(folder, port) {
  const files = {
    accounts: { accounts: Array.from({ length: ACCOUNTS }, (_, number) => account(number)) },
    balance: {
      accountBalance: money('57933.730'),
      availableBalance: money('57820.670'),
      date: bankDay(0),
      hour: '10:19',
    },
    transactions: {
      totalOutput: money('-4679.800'),
      totalEnter: money('3870.410'),
      transactionsAccounting: Array.from({ length: ROWS }, (_, row) =>
        transaction(`A${row + 1}`, 3 + row * 3),
      ),
      transactionsNotAccounting: Array.from({ length: PENDING }, (_, row) => transaction(`N${row + 1}`, row)),
      numberTransactionsAccounting: ROWS,
      numberTransactionsNotAccounting: PENDING,
      nextAccounting: 0,
      nextNotAccounting: 0,
    },
  };
  mkdirSync(join(folder, 'answers'));
  const locations = Object.entries(files).map(([name, data]) => {
    const result = {
      outcome: 'SUCCESS',
      requestId: '007370527458816028931104',
      flushMessages: true,
      messages: [],
    };
    const body = JSON.stringify({ result, data, _links: { self: { href: name, method: 'GET' } } });
    writeFileSync(join(folder, 'answers', `${name}.json`), body);
    const digest = createHash('sha256').update(body).digest('base64');
    return `location ~ ${PATHS[name]} { try_files /${name}.json =404; add_header Digest SHA-256=${digest}; }`;
  });
  // By default the worker runs as nobody, who can't read the folder.
  const user = process.getuid() === 0 ? 'user root;' : '';
  return `daemon off;
${user}
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 512; }
http {
  access_log off;
  default_type application/json;
  open_file_cache max=16;
  sendfile on;
  keepalive_requests 1000000;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${folder}/bank.pem;
    ssl_certificate_key ${folder}/bank-key.pem;
    ssl_client_certificate ${folder}/tpp/ca.pem;
    ssl_verify_client on;
    root ${folder}/answers;
    large_client_header_buffers 4 32k;
    ${locations.join('\n    ')}
  }
}
`;
}

const PATHS = {
  accounts: '^/private/customers/[0-9]+/accounts$',
  balance: '/balance/retrieve$',
  transactions: '/transactions/retrieve$',
};

function account(number) {
  const product = { code: 'AZIM', description: 'CONTO CORRENTE' };
  return {
    accountId: `005000001${number}`,
    product,
    currency: 'EUR',
    iban: 'IT36N0999001600000050000010',
    name: '',
  };
}

function transaction(index, daysAgo) {
  return {
    index,
    shortDescription: 'PAGAMENTO TRAMITE POS',
    extendedDescription: `FERRAMENTA NUOVA OP. 000000${100 + daysAgo}`,
    amountTransaction: money(`-${daysAgo}.850`),
    dateAccountingCurrency: bankDay(daysAgo),
    dateLiquidationValue: bankDay(daysAgo),
    codeDescription: '43',
    idMoneyTransfer: '',
    isFeeCharge: false,
  };
}

function money(amount) {
  return { amount, currency: 'EUR' };
}

/** `DD/MM/YYYY` */
function bankDay(daysAgo) {
  return new Date(Date.now() - daysAgo * 86_400_000)
    .toISOString()
    .slice(0, 10)
    .split('-')
    .reverse()
    .join('/');
}

/** On Debian, nginx is in a folder that only root has in PATH. */
function withSbin() {
  return { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function reachable(port, nginx) {
  for (;;) {
    if (nginx.exitCode !== null) throw new Error(`nginx ended with exit code ${nginx.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
