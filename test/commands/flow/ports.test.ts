import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Server } from 'node:net';
import { hostname, userInfo } from 'node:os';
import { dirname } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RawGlobals } from '../../../src/cli/globals.ts';
import { customerPortsOf, evidenceIn } from '../../../src/commands/flow/ports.ts';
import { CallLog, type LoggedCall } from '../../../src/store/machine/call-log.ts';
import type { Environment } from '../../../src/store/machine/settings.ts';
import type { Terminal } from '../../../src/terminal/terminal.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { freePort } from '../../support/free-port.ts';
import { openCommand } from '../command.ts';
import { failureOf } from '../failure.ts';

const temporary = temporaryFolder();
/** What the test ends with. */
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
const START = Date.parse('2026-11-26T10:00:00.000Z');
const ADDRESS = 'https://customers.bank.example/sca';

interface How {
  redirectUri?: string;
  env?: Environment;
  globals?: Partial<RawGlobals>;
  rows?: number;
  /** Whether there is a terminal to ask at. */
  canAsk?: boolean;
  /** Called for each pause of psd2. */
  pause?: (milliseconds: number) => void | Promise<void>;
}

/** An operator whose customer has a browser, with a clock that only pauses move. */
function operator(how: How = {}) {
  const { redirectUri = 'https://tpp.example/callback', env, globals, rows, canAsk = false, pause } = how;
  let now = START;
  const interrupted = new AbortController();
  const waits: (() => string)[] = [];
  const events: Parameters<Terminal['tell']>[0][] = [];
  const command = openCommand(newConfigFolder(temporary), () => new Date(now), {
    env: { SSH_CONNECTION: '', SSH_TTY: '', PSD2_BROWSER: 'none', ...env },
    globals: { scaTimeout: '2', ...globals },
    changes: ({ terminal, world }) => ({
      terminal: {
        ...terminal,
        canAsk,
        size: { columns: 80, rows },
        tell: (event, text) => {
          events.push(event);
          terminal.tell(event, text);
        },
        whileWaiting: (text, work) => {
          waits.push(typeof text === 'string' ? () => text : text);
          return work;
        },
      },
      interrupt: (reason) => interrupted.abort(reason),
      world: {
        ...world,
        sleep: async (milliseconds) => {
          now += milliseconds;
          await pause?.(milliseconds);
        },
      },
    }),
  });
  const profile = { name: 'env', settings: { baseUrl: 'https://bank.example', redirectUri } };
  const passes = (milliseconds: number) => {
    now += milliseconds;
  };
  const { signal } = interrupted;
  const untilInterrupted = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error('the call that was under way'))),
  );
  return {
    ...command,
    waits,
    events,
    passes,
    signal,
    untilInterrupted,
    ports: customerPortsOf(command.context, profile),
  };
}

const here = async () => `http://127.0.0.1:${await freePort()}/callback`;

describe("the customer's browser", () => {
  const OPENED = `Opening in the browser:\n  ${ADDRESS}\n`;
  const OWN = { env: { PSD2_BROWSER: 'true' } };
  const BY_HAND = `Open this address in the customer's browser:\n  ${ADDRESS}\n`;

  it.each<[string, How, string]>([
    ['is opened by the command of the operator', OWN, OPENED],
    ['is not opened with PSD2_BROWSER=none', {}, BY_HAND],
    ['is not opened with --no-browser', { ...OWN, globals: { browser: false } }, BY_HAND],
  ])('%s', async (_, how, said) => {
    const at = operator(how);
    await at.ports.sendBrowser(ADDRESS);
    expect(at.said()).toBe(said);
    expect(at.events).toEqual([{ event: 'open', url: ADDRESS }]);
  });

  it('is said to be of the person who authorises', async () => {
    const at = operator({});
    await at.ports.sendBrowser(ADDRESS, 'emil');
    expect(at.said()).toContain("Open this address in the customer's browser (emil authorises):");
    expect(at.events).toEqual([{ event: 'open', url: ADDRESS, psuId: 'emil' }]);
  });

  it.each([
    ['/nowhere/browser', '"/nowhere/browser" could not be started: there is no such program', ''],
    ['false', '"false" ended with the exit code 1', ''],
    [`sh -c 'echo no display >&2; exit 4'`, '"sh" ended with the exit code 4', 'no display'],
  ])('%s that fails ends the wait at once where no terminal is', async (browser, message, said) => {
    const at = operator({ env: { PSD2_BROWSER: browser } });
    await at.ports.sendBrowser(ADDRESS);
    const hint = said === '' ? 'Check PSD2_BROWSER or BROWSER.' : `It says: ${said}.`;
    expect(await failureOf(at.ports.whileWaiting('Waiting', at.untilInterrupted, 2_000))).toEqual({
      ...{ code: 'config', exitCode: 3, message: `The browser command ${message}`, hint },
    });
  });

  it('that fails after the customer has come back, or in other work, interrupts nothing', async () => {
    const at = operator({ env: { PSD2_BROWSER: 'false' } });
    await at.ports.sendBrowser(ADDRESS);
    expect(await at.ports.whileWaiting('Waiting', Promise.resolve('back'), 2_000)).toBe('back');
    const program = await at.ports.whileWaiting('Executing', once(spawn('false'), 'exit'));
    expect(program).toEqual([1, null]);
    expect(await at.ports.whileWaiting('Waiting for the bank', Promise.resolve('paid'), 2_000)).toBe('paid');
    expect([at.signal.aborted, at.said()]).toEqual([false, `Opening in the browser:\n  ${ADDRESS}\n`]);
  });

  it('that cannot be opened leaves the address to open by hand at a terminal', async () => {
    const at = operator({ env: { PSD2_BROWSER: '/nowhere/browser' }, canAsk: true });
    await at.ports.sendBrowser(ADDRESS);
    expect(at.said()).toMatch(
      /^Opening in the browser:\n {2}\S+\n.*\/nowhere\/browser.* Open the address above by hand\.\n$/,
    );
  });

  it('gets no address that is none of a bank', async () => {
    const at = operator();
    await expect(at.ports.sendBrowser('ftp://bank.example')).rejects.toMatchObject({ code: 'bank_answer' });
    expect(at.said()).toBe('');
  });

  it('has the redirect URI and the time of the operator, and may be on another device', () => {
    const { redirectUri, scaTimeoutMs, atAnotherDevice } = operator().ports;
    expect([redirectUri, scaTimeoutMs, atAnotherDevice]).toEqual([
      ...['https://tpp.example/callback', 2_000, false],
    ]);
    expect(operator({ globals: { qr: true } }).ports.atAnotherDevice).toBe(true);
  });
});

describe('what is said of the way back', () => {
  const HARMLESS = 'At the end, the phone shows an address that it cannot open. That is harmless.\n';
  const PASTE =
    'A phone cannot return to this computer. With --paste you can enter the address that the phone shows in the end.\n';
  const tunnel = (at: string, host = '127.0.0.1') =>
    'The browser must return to this computer. If it runs on yours, run this there:\n' +
    `  ssh -N -L ${at}:${host}:${at} ${userInfo().username}@${hostname()}\n`;
  const wayBack = async (how: How, listens = true) => {
    const at = operator(how);
    const listener = listens ? await at.ports.listen('state', 'login') : null;
    closing.push(() => listener?.close());
    await at.ports.sendBrowser(ADDRESS);
    const said = at.said();
    return said.slice(said.indexOf(`  ${ADDRESS}\n`) + ADDRESS.length + 3);
  };

  it('nothing at this computer, or if the browser does not return to it', async () => {
    expect(await wayBack({ redirectUri: await here() })).toBe('');
    expect(await wayBack({ env: { SSH_TTY: '/dev/pts/1' } })).toBe('');
    expect(await wayBack({ redirectUri: await here(), env: { SSH_TTY: '/dev/pts/1' } }, false)).toBe('');
  });

  it.each([{ SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22' }, { SSH_TTY: '/dev/pts/1' }])(
    'the way through SSH with %j',
    async (env) => {
      const redirectUri = await here();
      expect(await wayBack({ redirectUri, env })).toBe(tunnel(new URL(redirectUri).port));
    },
  );

  it.each([
    ['80', 'http://127.0.0.1/callback'],
    ['443', 'https://127.0.0.1/callback'],
  ])('the way through SSH to port %s of %s', async (port, redirectUri) => {
    const listen = Server.prototype.listen;
    // Only the administrator may listen at this port.
    const spy = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
      return listen.call(this, { port: 0, host: '127.0.0.1' });
    });
    closing.push(() => spy.mockRestore());
    expect(await wayBack({ redirectUri, env: { SSH_TTY: '/dev/pts/1' } })).toBe(tunnel(port));
  });

  it('a phone cannot open an address of this computer', async () => {
    const code = /^[^A-Z]*$/;
    const [listens, does] = [await wayBack({ redirectUri: await here(), globals: { qr: true } }), PASTE];
    expect(listens.endsWith(`\n${does}`)).toBe(true);
    expect(listens.slice(0, -does.length)).toMatch(code);
    const without = await wayBack({ redirectUri: await here(), globals: { qr: true } }, false);
    expect(without.endsWith(`\n${HARMLESS}`)).toBe(true);
    const elsewhere = await wayBack({ globals: { qr: true } });
    expect(elsewhere).toMatch(code);
    expect(elsewhere).toContain('█');
  });

  it('a code that does not fit is not drawn, and one of this computer is of no use', async () => {
    const at = operator({ globals: { qr: true }, rows: 5 });
    await at.ports.sendBrowser('http://127.0.0.1:8080/sca');
    expect(at.said()).toBe(
      "Open this address in the customer's browser:\n  http://127.0.0.1:8080/sca\n" +
        'The address is too long for a QR code in a terminal of this size.\n' +
        'This address is on this computer, so a phone cannot open it.\n',
    );
  });
});

describe('the port of the redirect URI', () => {
  it('is not listened at if it is elsewhere', async () => {
    expect(await operator().ports.listen('state', 'login')).toBeNull();
  });

  it.each(['login', 'authorisation'] as const)(
    'that psd2 may not listen at ends the %s, and nobody waits for it',
    async (purpose) => {
      const spy = vi.spyOn(Server.prototype, 'listen').mockImplementation(() => {
        throw Object.assign(new Error('listen EADDRNOTAVAIL'), { code: 'EADDRNOTAVAIL' });
      });
      closing.push(() => spy.mockRestore());
      const at = operator({ redirectUri: 'http://127.0.0.1:8910/callback' });
      await expect(at.ports.listen('state', purpose)).rejects.toMatchObject({ code: 'config' });
      expect(at.said()).toBe('');
    },
  );

  /** A port that another psd2 has. */
  async function taken() {
    const redirectUri = await here();
    const other = await operator({ redirectUri }).ports.listen('other', 'login');
    return {
      redirectUri,
      release: () => other?.close(),
      said: `The port of ${redirectUri} is in use, perhaps by another psd2.`,
    };
  }

  it('that another psd2 has is not waited for by an authorisation, which asks the bank instead', async () => {
    const { redirectUri, release, said } = await taken();
    closing.push(release);
    const at = operator({ redirectUri, env: { SSH_TTY: 'x' } });
    expect(await at.ports.listen('state', 'authorisation')).toBeNull();
    const asks = "psd2 asks the bank for the customer's decision instead of waiting for the browser.";
    expect(at.said()).toBe(`${said} ${asks}\n`);
    // Nothing returns here, so nobody needs a way through SSH.
    await at.ports.sendBrowser(ADDRESS);
    expect(at.said()).not.toContain('ssh -N');
  });

  it('that another psd2 has is waited for by a login, which says so once', async () => {
    const { redirectUri, release, said } = await taken();
    const pauses: number[] = [];
    const pause = async (milliseconds: number) => {
      pauses.push(milliseconds);
      if (pauses.length === 3) await release();
    };
    const at = operator({ redirectUri, pause });
    const listener = await at.ports.listen('state', 'login');
    expect(listener).not.toBeNull();
    await listener?.close();
    expect(at.said()).toBe(
      `${said} The login waits its turn, at most 2 s. If another program has the port, end that, or interrupt this and add --paste.\n`,
    );
    expect(pauses).toEqual([500, 500, 500]);
  });

  it('is no longer waited for once the time of the customer is over', async () => {
    const { redirectUri, release } = await taken();
    closing.push(release);
    const pauses: number[] = [];
    const at = operator({ redirectUri, pause: (milliseconds) => void pauses.push(milliseconds) });
    await expect(at.ports.listen('state', 'login')).rejects.toMatchObject({ code: 'callback_port_busy' });
    expect(pauses).toEqual([500, 500, 500, 500]);
  });
});

it('a person sees how much of the time is left', async () => {
  const { ports, waits, passes } = operator();
  expect(await ports.whileWaiting('Asking', Promise.resolve(7))).toBe(7);
  expect(await ports.whileWaiting('Waiting', Promise.resolve(8), 125_000)).toBe(8);
  passes(61_000);
  expect(waits.map((text) => text())).toEqual(['Asking', 'Waiting (1:04 left)']);
});

describe('what the log of calls knows', () => {
  const CALL: LoggedCall = {
    ...{ at: '2026-11-26T10:00:00.000Z', profile: 'env', host: 'bank.example', method: 'POST', path: '/x' },
    ...{ status: 200, failure: null, milliseconds: 1, tppRequestId: 'q', transactionId: 't' },
    ...{ requestId: null, apiTrackId: null, flow: null, irrevocable: true, route: '/x', kind: 'pis' },
  };
  const knowing = (...calls: Partial<LoggedCall>[]) => {
    const { context } = operator();
    const log = new CallLog(context.folder.log);
    for (const call of calls) log.append({ ...CALL, ...call });
    log.close();
    return evidenceIn(context);
  };

  it.each<[string, Partial<LoggedCall>[], boolean]>([
    ['says so', [{ neverLeft: true }], true],
    ['does not say so', [{}], false],
    ['says so of another request', [{ tppRequestId: 'other-q', neverLeft: true }], false],
    ['has it after another one', [{ tppRequestId: 'q', neverLeft: true }, { tppRequestId: 'other-q' }], true],
    ['says the newest last', [{ neverLeft: true }, {}], false],
    ['is empty', [], false],
  ])('a request never left only if the log says so: the log %s', async (_, calls, neverLeft) => {
    expect(await knowing(...calls).neverLeft('q')).toBe(neverLeft);
  });

  const WITH_ID = { answer: 'answered', resourceId: 'r' };
  const MINE = { transactionId: 't' };
  const NONE = { answer: 'no', refused: [], announced: [] };
  const LOST = { ...NONE, answer: 'lost' };
  const PROVEN: Partial<LoggedCall> = { status: 400, verdict: 'nothing began' };
  it.each<[string, Partial<LoggedCall>[], object]>([
    ['an answer', [{ ...MINE, verdict: 'began' }], { answer: 'answered', resourceId: null }],
    ['an answer without a verdict', [{ ...MINE, status: 201 }], LOST],
    ['a success that proves nothing', [{ ...MINE, status: 201, verdict: 'unknown' }], LOST],
    ['a success that proves nothing, with an id', [{ ...MINE, verdict: 'unknown', begun: 'r' }], WITH_ID],
    ['an answer with an id', [{ ...MINE, status: 299, begun: 'r' }], WITH_ID],
    ['an answer before a refusal', [{ status: 201, begun: 'r' }, { status: 400 }], WITH_ID],
    ['no answer', [{ status: null, failure: 'timeout' }], LOST],
    ['a redirection', [{ status: 300 }], LOST],
    ['a refusal that proves nothing', [{ status: 400, verdict: 'unknown' }], LOST],
    ['a refusal after which psd2 was to ask again', [{ status: 400, verdict: 'ask again' }], LOST],
    ['a refusal without a verdict', [{ status: 400 }], LOST],
    ['a refusal that proves that nothing began', [PROVEN], { ...NONE, refused: ['q'] }],
    ['a lost answer before one', [{ status: null }, PROVEN], { ...LOST, refused: ['q'] }],
    [
      'one that was asked for again',
      [{ status: 400, verdict: 'ask again' }, PROVEN],
      { ...NONE, refused: ['q'] },
    ],
    [
      'one after which another attempt was to be asked for again',
      [{ status: 400, verdict: 'ask again', tppRequestId: 'p' }, PROVEN],
      { ...LOST, refused: ['q'] },
    ],
    ['a call that can be taken back', [{ status: 200, irrevocable: undefined }], NONE],
    ['a call that never left', [{ status: null, neverLeft: true }], NONE],
    ['the answer to another payment', [{ status: 200, transactionId: 'other-t' }], NONE],
    ['nothing', [], NONE],
  ])('of an initiation: %s', async (_, calls, answer) => {
    expect(await knowing(...calls).initiated('t')).toEqual(answer);
  });

  it.each<[string, Partial<LoggedCall>[], object]>([
    ['no line of the call', [], { ...LOST, announced: ['q'] }],
    ['a call that never left', [{ status: null, neverLeft: true }], { ...NONE, announced: ['q'] }],
    [
      'the line of another attempt',
      [{ ...PROVEN, tppRequestId: 'p' }],
      { ...LOST, refused: ['p'], announced: ['q'] },
    ],
    ['a refusal', [PROVEN], { ...NONE, refused: ['q'], announced: ['q'] }],
  ])('of an initiation that was about to leave: %s', async (_, calls, answer) => {
    const { context } = operator();
    const evidence = evidenceIn(context);
    await evidence.announces({ requestId: 'q', transactionId: 't' });
    await evidence.announces({ requestId: 'r', transactionId: 'other-t' });
    const log = new CallLog(context.folder.log);
    for (const call of calls) log.append({ ...CALL, ...call });
    log.close();
    expect(await evidence.initiated('t')).toEqual(answer);
  });

  it('what customers gave psd2 is known from its call, or from its announcement alone, and is no initiation', async () => {
    const { context } = operator();
    mkdirSync(context.folder.log, { recursive: true });
    const evidence = evidenceIn(context);
    const announces = (requestId: string, transactionId: string, gives?: LoggedCall['gives']) =>
      evidence.announces({ requestId, transactionId, ...(gives && { gives }) });
    await announces('pin', 't', { what: 'password' });
    await announces('unsent', 't', { what: 'method' });
    await announces('killed', 't', { what: 'code', ofCancellation: true });
    await announces('other', 'other-t', { what: 'code' });
    const log = new CallLog(context.folder.log);
    const gives = { what: 'password' } as const;
    const call = { ...CALL, ...MINE, irrevocable: undefined };
    log.append({ ...call, tppRequestId: 'pin', gives });
    log.append({ ...call, tppRequestId: 'unsent', gives: { what: 'method' }, neverLeft: true });
    log.append({ ...call, tppRequestId: 'unannounced', gives: { what: 'code' } });
    log.close();
    expect(await evidence.given('t')).toEqual([
      { requestId: 'pin', what: 'password' },
      { requestId: 'killed', what: 'code', ofCancellation: true },
      { requestId: 'unannounced', what: 'code' },
    ]);
    expect(await evidence.initiated('t')).toEqual(NONE);
  });

  it('nothing but an announcement is written without a place for it', async () => {
    const { context } = operator();
    mkdirSync(dirname(context.folder.log), { recursive: true });
    writeFileSync(context.folder.log, '');
    await evidenceIn(context).announces({ requestId: 'q', transactionId: 't' });
    expect(readFileSync(context.folder.log, 'utf8')).toBe('');
  });

  it.each<[string, Partial<LoggedCall>[], boolean]>([
    ['a call that cannot be taken back', [{}], true],
    ['one that was refused', [{ status: 400 }], true],
    ['one that never left', [{ status: null, neverLeft: true }], false],
    ['one that can be taken back', [{ irrevocable: undefined }], false],
    ['one of another payment', [{ transactionId: 'other-t' }], false],
    ['several', [{}, { irrevocable: undefined }, { neverLeft: true }], true],
    ['nothing', [], false],
  ])('of a payment, with %s, it was sent: %s', async (_, calls, hasSent) => {
    expect(await knowing(...calls).hasSent('t')).toBe(hasSent);
  });
});
