import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'vitest';
import { useDoor } from '../door-client.ts';
import { CALLS } from './description.ts';
import { type Call, readAndPay } from './walk.ts';

const SCRIPT = fileURLToPath(new URL('curl.sh', import.meta.url));
const door = await useDoor({}, [], { strict: false });

test('curl with its defaults reads accounts and pays', async () => {
  const { baseUrl, registration } = door.sandbox;
  const env = {
    PATH: process.env.PATH,
    BASE_URL: baseUrl,
    CERTIFICATES: dirname(registration.qsealCertFile),
  };
  const call: Call = async (operationId, values, body) => {
    const { path = '', method = 'get', query = [] } = CALLS[operationId] ?? {};
    const inPath = path.replace(/\{([^}]+)\}/g, (_, name: string) => values[name] ?? '');
    const parameters = new URLSearchParams();
    for (const name of query) if (values[name] !== undefined) parameters.set(name, values[name]);
    const headers = Object.entries(values).filter(
      ([name]) => !query.includes(name) && !path.includes(`{${name}}`),
    );
    const target = `/nextgenpsd2${inPath}${parameters.size > 0 ? `?${parameters}` : ''}`;
    const { stdout } = await promisify(execFile)(
      'bash',
      [
        SCRIPT,
        method.toUpperCase(),
        target,
        body ? JSON.stringify(body) : '',
        ...headers.map((one) => one.join(': ')),
      ],
      { env },
    );
    const at = stdout.lastIndexOf('\n');
    return { status: Number(stdout.slice(at + 1)), body: JSON.parse(stdout.slice(0, at)) };
  };
  await readAndPay(call);
});
