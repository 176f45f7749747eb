// How fast the sandbox starts and answers, and how much memory it uses. The client signs all of its calls before the
// clock starts.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID, sign, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { figure, median, processorSeconds, residentMegabytes, signaturesASecond } from './measure.js';
import { openOperator, PROGRAM } from './operator.js';

const STARTS = 15;
const CALLS = 2100;
const ROUNDS = 3;
const CONNECTIONS = 8;
const MILLION = 1_000_000;
const PAGE = 1000;
const BANK_CORE = '0';
const MANY = ['--no-enforce-consents', '--customers', '10000', '--transactions', String(MILLION)];

const CUSTOMER = '/private/customers/5000001';
const PRODUCTS = ['0050000010', '0050000018', '0150000015'];

export async function sandbox(node, version) {
  const few = openOperator(['--no-enforce-consents', '--customers', '1', '--page-size', '100'], BANK_CORE);
  const many = openOperator([...MANY, '--page-size', String(PAGE)], BANK_CORE);
  try {
    return [
      await startFigure(node, version, many),
      ...(await callFigures(version, few)),
      ...(await memoryFigures(version, few, many)),
    ];
  } finally {
    few.close();
    many.close();
  }
}

/** The time until the sandbox says that it is ready. Its certificates exist. Stops the running sandbox first. */
async function startFigure(node, version, { env, run }) {
  run('sandbox', 'stop');
  const times = { node: [], sandbox: [] };
  for (let round = -1; round < STARTS; round += 1) {
    const begun = performance.now();
    spawnSync(node, ['-e', '0']);
    const baseline = performance.now() - begun;
    const took = await timeStart(node, env);
    if (round < 0) continue;
    times.node.push(baseline);
    times.sandbox.push(took);
  }
  const [baseline, took] = [median(times.node), median(times.sandbox)];
  run('sandbox', 'start', '--detach', '--port', '0', ...MANY, '--page-size', String(PAGE));
  return figure({
    what: `psd2 sandbox start until it is ready, Node ${version}`,
    ratio: took / baseline,
    against: 'node -e 0',
    limit: 3,
    detail: `${took.toFixed(0)} ms against ${baseline.toFixed(0)} ms, medians of ${STARTS}; 10 000 customers with accounts of 1 000 000 transactions`,
  });
}

async function timeStart(node, env) {
  const begun = performance.now();
  const child = spawn(node, [PROGRAM, 'sandbox', 'start', '--port', '0', ...MANY], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  let said = '';
  for await (const text of child.stderr.setEncoding('utf8')) {
    said += text;
    if (!said.includes('ready')) continue;
    const took = performance.now() - begun;
    child.kill('SIGTERM');
    await ended;
    return took;
  }
  throw new Error(`The sandbox did not start: ${said}`);
}

/** The calls that `psd2 sync` makes. */
async function callFigures(version, operator) {
  const paths = [
    `${CUSTOMER}/accounts`,
    ...PRODUCTS.flatMap((product) => [
      `${CUSTOMER}/products/${product}/balance/retrieve`,
      `${CUSTOMER}/products/${product}/transactions/retrieve?dateFrom=${daysAgo(80)}`,
    ]),
  ];
  const mixed = Array.from({ length: CALLS }, (_, index) => paths[index % paths.length]);
  const client = await openClient(operator);
  await client.send(mixed);
  const { pid } = operator.running();
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const signatures = signaturesASecond(BANK_CORE);
    const before = processorSeconds(pid);
    const { seconds } = await client.send(mixed);
    const own = (processorSeconds(pid) - before) / CALLS;
    rounds.push({ signatures, rate: CALLS / seconds, own });
  }
  const of = (value) => median(rounds.map(value));
  return [
    figure({
      what: `calls of psd2 sync that the sandbox answers on one core, Node ${version}`,
      ratio: of(({ rate, signatures }) => rate / signatures),
      against: 'RSA 2048 signatures a second of one core (openssl speed)',
      least: 0.7,
      detail: `${of(({ rate }) => rate).toFixed(0)} calls/s, signed beforehand, over ${CONNECTIONS} connections; ${of(({ own }) => own * 1000).toFixed(2)} ms of its core each`,
    }),
  ];
}

/** Reads the pages of a million entries, and compares the memory with that for ten thousand: the sandbox keeps none. */
async function memoryFigures(version, few, many) {
  const pages = (count) =>
    Array.from({ length: MILLION / PAGE }, (_, page) => {
      const cursor = (page % count) * PAGE + 1;
      return `${CUSTOMER}/products/${PRODUCTS[0]}/transactions/retrieve?nextAccounting=${cursor}&nextNotAccounting=99`;
    });
  const client = await openClient(many);
  const { pid } = many.running();
  await client.send(pages(10));
  const before = residentMegabytes(pid);
  const { seconds } = await client.send(pages(MILLION / PAGE));
  const after = residentMegabytes(pid);
  return [
    figure({
      what: `memory of the sandbox after an account of ${MILLION} entries was read, Node ${version}`,
      ratio: after / before,
      against: 'its memory after its first 10 000 were read a hundred times',
      limit: 1.3,
      detail: `${after.toFixed(0)} MB against ${before.toFixed(0)} MB, and ${residentMegabytes(few.running().pid).toFixed(0)} MB of one with one customer; ${(MILLION / seconds).toFixed(0)} rows/s`,
    }),
  ];
}

function daysAgo(count) {
  const day = new Date(Date.now() - count * 86_400_000).toISOString().slice(0, 10);
  return encodeURIComponent(day.split('-').reverse().join('/'));
}

/** Calls for the first made up customer. */
async function openClient(operator) {
  const variables = operator.json('sandbox', 'env');
  const { accessToken } = await operator.grant('5000001');
  const read = (name) => readFileSync(variables[name]);
  const certificate = new X509Certificate(read('PSD2_QSEAL_CERT')).raw.toString('base64');
  const key = read('PSD2_QSEAL_KEY');
  const tls = { ca: read('PSD2_CA'), cert: read('PSD2_QWAC_CERT'), key: read('PSD2_QWAC_KEY') };
  const prepare = (path) => {
    const [id, date] = [randomUUID(), new Date().toUTCString()];
    const signed = `(request-target): get ${path}\ntpp-request-id: ${id}\ndate: ${date}`;
    const signature = sign('RSA-SHA256', Buffer.from(signed), key).toString('base64');
    return {
      path,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${accessToken}`,
        'tpp-transaction-id': randomUUID(),
        'tpp-request-id': id,
        date,
        'tpp-certificate': certificate,
        signature: `keyId="${variables.PSD2_APP_NAME}",algorithm="rsa-sha256",headers="(request-target) tpp-request-id date",signature="${signature}"`,
      },
    };
  };
  const sendOne = async (options) => {
    const call = httpsRequest(variables.PSD2_BASE_URL, options).end();
    const [answer] = await once(call, 'response');
    answer.resume();
    await once(answer, 'end');
    if (answer.statusCode !== 200) throw new Error(`${options.path} answered ${answer.statusCode}`);
  };
  return {
    /** Sends a GET of each path. */
    async send(paths) {
      const prepared = paths.map(prepare);
      // New connections each time: the sandbox closes idle ones.
      const agent = new Agent({ ...tls, keepAlive: true, maxSockets: CONNECTIONS });
      const begun = performance.now();
      const worker = async () => {
        for (let next = prepared.pop(); next; next = prepared.pop()) await sendOne({ ...next, agent });
      };
      try {
        await Promise.all(Array.from({ length: CONNECTIONS }, worker));
        return { seconds: (performance.now() - begun) / 1000 };
      } finally {
        agent.destroy();
      }
    },
  };
}
