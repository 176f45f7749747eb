import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  CallLog,
  type LoggedCall,
  type NamedCall,
  readCalls,
  removeCalls,
  wordsOf,
} from '../../../src/store/machine/call-log.ts';
import { storeFolder } from '../../../src/store/machine/folder.ts';
import { thrownBy } from '../../support/thrown.ts';
import { openBelow } from '../open-files.ts';
import { startProgram } from '../process.ts';
import { newConfigFolder, temporaryFolder } from '../temporary-folder.ts';
import { failing, once } from '../waiting.ts';

const temporary = temporaryFolder();
const newLogFolder = () => newConfigFolder(temporary).log;
let folder: string;
let log: CallLog;
beforeEach(() => {
  folder = newLogFolder();
  log = new CallLog(folder);
});

function call(changes: Partial<LoggedCall> = {}): LoggedCall {
  return {
    at: '2026-11-21T09:30:00.000Z',
    profile: 'bank',
    host: 'psd2.bank.example',
    method: 'GET',
    path: '/private/customers/1048262/accounts',
    status: 200,
    failure: null,
    milliseconds: 12,
    tppRequestId: 'q1',
    transactionId: 't1',
    requestId: '012345678901234567890123',
    apiTrackId: '9568200258',
    flow: null,
    route: '/private/customers/{id}/accounts',
    kind: 'ais',
    ...changes,
  };
}

const idsIn = (of: string, mention?: string) =>
  [...readCalls(of, mention)].map(({ tppRequestId }) => tppRequestId);

describe('the log of calls', () => {
  // A journal that was restored from an older state reads there what had left, and what its answer proved.
  it.each<Partial<LoggedCall>>([
    ...(['began', 'nothing began', 'unknown', 'ask again'] as const).map((verdict) => ({ verdict })),
    ...(['password', 'method', 'code'] as const).map((what) => ({ gives: { what } })),
    { gives: { what: 'code', ofCancellation: true } },
    ...(['own', 'unusable', 'no reply'] as const).map((failureKind) => ({ failureKind })),
    ...(['ais', 'pis', 'piis', 'consent', 'auth', 'other'] as const).map((kind) => ({ kind })),
    { begun: 'p-1' },
    { customer: 'anna' },
    { connectMs: 3 },
    { firstByteMs: 7 },
    { run: 'r-1' },
    { neverLeft: true },
    { irrevocable: true },
  ])('it keeps %j', (changes) => {
    log.append(call(changes));
    log.append(call({ tppRequestId: 'q2' }));
    expect([...readCalls(folder)]).toEqual([call({ tppRequestId: 'q2' }), call(changes)]);
  });

  it('the words of a call are the customer, the flow, and the parts of its path as they are meant', () => {
    expect(wordsOf(call({ customer: 'anna', flow: 'tr-1', path: '/a%20b/%E0%A4%A' }))).toEqual([
      'anna',
      'tr-1',
      '',
      'a b',
      '%E0%A4%A',
    ]);
    expect(wordsOf(call({ path: '/x' }))).toEqual(['', 'x']);
  });

  it('the log of calls returns what was written, newest first, and can be searched for a text', () => {
    const calls = [
      call(),
      call({ tppRequestId: 'q2', status: null, failure: 'nothing listens at 127.0.0.1:1', requestId: null }),
      call({ tppRequestId: 'q3', flow: 'tr-1', method: 'PUT', irrevocable: true }),
      call({ tppRequestId: 'q4', status: null, failure: 'no connection', neverLeft: true }),
    ];
    for (const each of calls) log.append(each);
    expect([...readCalls(folder)]).toEqual(calls.reverse());
    expect(idsIn(folder, 'tr-1')).toEqual(['q3']);
  });

  it('only the owner can read the log of calls, even if its file was opened to others', () => {
    log.append(call());
    const file = join(folder, 'calls.ndjson');
    expect([folder, file].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    chmodSync(file, 0o644);
    log.append(call());
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('the log of calls is read completely, whatever the length of its lines, even across blocks', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.nat(70_000).map((length) => 'é'.repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), (paths) => {
        folder = newLogFolder();
        log = new CallLog(folder);
        const lines = paths.map((path) => call({ path: path }));
        for (const line of lines) log.append(line);
        expect([...readCalls(folder)]).toEqual(lines.reverse());
      }),
      { numRuns: 60 },
    );
  });

  it('the log of calls skips a line that was cut short, and no other', () => {
    log.append(call({ tppRequestId: 'before' }));
    appendFileSync(join(folder, 'calls.ndjson'), '{"at":"2026-11-21T09:30:00.000Z","prof');
    log.append(call({ tppRequestId: 'after' }));
    appendFileSync(join(folder, 'calls.ndjson'), 'neither JSON\n{"at":1}\n\n');
    log.append(call({ tppRequestId: 'last' }));
    expect(idsIn(folder)).toEqual(['last', 'after', 'before']);
  });

  it('a call goes into the file that has the name now, also if another process has put the one of the last call aside', () => {
    const path = join(folder, 'calls.ndjson');
    log.append(call({ tppRequestId: 'first' }));
    renameSync(path, join(folder, 'calls-2026-11-21T093000.000Z-1.ndjson'));
    log.append(call({ tppRequestId: 'second' }));
    new CallLog(folder).append(call({ tppRequestId: 'of another process' }));
    log.append(call({ tppRequestId: 'third' }));
    expect(idsIn(folder)).toEqual(['third', 'of another process', 'second', 'first']);
    rmSync(path);
    log.append(call({ tppRequestId: 'fourth' }));
    log.close();
    log.append(call({ tppRequestId: 'fifth' }));
    expect(idsIn(folder)).toEqual(['fifth', 'fourth', 'first']);
  });

  it('a line whose fields have another type does not count', () => {
    new CallLog(folder).append(call());
    for (const change of [{ neverLeft: false }, { irrevocable: 'yes' }, { status: '200' }, { flow: 7 }])
      appendFileSync(join(folder, 'calls.ndjson'), `${JSON.stringify({ ...call(), ...change })}\n`);
    expect(idsIn(folder)).toEqual(['q1']);
  });

  it('only the files that psd2 names belong to the log, the newest first', () => {
    new CallLog(folder).append(call());
    const other = (name: string, tppRequestId: string) =>
      writeFileSync(join(folder, name), `${JSON.stringify(call({ tppRequestId }))}\n`, { mode: 0o600 });
    other('calls-2026-11-19T093000.000Z-1.ndjson', 'oldest');
    other('calls-2026-11-20T093000.000Z-1.ndjson', 'older');
    for (const name of ['my-calls-1.ndjson', 'calls-1.ndjson.gz', 'callsx.ndjson']) other(name, name);
    expect(idsIn(folder)).toEqual(['q1', 'older', 'oldest']);
  });

  it('a log that others can change, or that cannot be read, is refused', () => {
    log.append(call());
    const path = join(folder, 'calls.ndjson');
    chmodSync(path, 0o666);
    expect(() => idsIn(folder)).toThrow(`${path} can be changed by others (mode 0666)`);
    chmodSync(path, 0o644);
    expect(idsIn(folder)).toEqual(['q1']);
    once('openSync', failing('EACCES'));
    expect(thrownBy(() => idsIn(folder))).toMatchObject({
      code: 'config',
      message: `The log ${path} cannot be read`,
      hint: 'Check who owns it.',
    });
  });

  it.each<[string, (path: string) => unknown]>([
    ['a folder', (path) => mkdirSync(path, { recursive: true })],
    ['a named pipe', (path) => execFileSync('mkfifo', ['-m', '600', path])],
  ])('%s in place of the log is refused', (what, make) => {
    mkdirSync(folder, { recursive: true });
    const path = join(folder, 'calls.ndjson');
    make(path);
    const refusal = expect.objectContaining({
      code: 'config',
      message: `${path} is ${what}, not a file`,
      hint: `Restore it, or move it away: mv ${path} ${path}.damaged`,
    });
    expect(() => idsIn(folder)).toThrow(refusal);
    expect(() => new CallLog(folder).append(call())).toThrow(refusal);
  });

  it('a log that cannot be written is reported, and its file is closed again', () => {
    once('openSync', failing('EACCES'));
    expect(() => log.append(call())).toThrow('EACCES');
    log.append(call());
    log.close();
    expect(idsIn(folder)).toEqual(['q1']);
    expect(openBelow(folder)).toEqual([]);
  });

  it('the log of calls is read only as far as needed, so even a huge file gives its last lines', () => {
    log.append(call());
    const path = join(folder, 'calls-2026-11-20T093000.000Z-1.ndjson');
    writeFileSync(path, '');
    // A hole of 64 GiB, which takes no space on disk.
    ftruncateSync(openSync(path, 'r+'), 64 * 1024 ** 3);
    appendFileSync(path, `\n${JSON.stringify(call({ tppRequestId: 'older' }))}\n`);
    const reading = readCalls(folder);
    expect([reading.next().value, reading.next().value]).toMatchObject([
      { tppRequestId: 'q1' },
      { tppRequestId: 'older' },
    ]);
    reading.return(undefined);
  });
});

describe('a log that is full', () => {
  const long = '/x'.repeat(512 * 1024);
  /** Eleven of these fill a file. */
  const fill = (log: CallLog, count: number, from = 0) => {
    for (let number = from; number < from + count; number += 1) {
      const at = new Date(Date.UTC(2026, 10, 21, 9, 30, number)).toISOString();
      log.append(call({ at, tppRequestId: String(number), path: long }));
    }
  };

  it('a log that is full moves on to a new file and keeps the order', () => {
    fill(new CallLog(folder), 25);
    expect(readdirSync(folder)).toHaveLength(3);
    expect(idsIn(folder)).toEqual(Array.from({ length: 25 }, (_, index) => String(24 - index)));
    for (const file of readdirSync(folder)) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  });

  it('a log that is full keeps the newest calls, about 50 MiB', () => {
    fill(new CallLog(folder), 80);
    const kept = idsIn(folder).map(Number);
    expect(kept[0]).toBe(79);
    expect(kept).toEqual(kept.map((_, index) => 79 - index));
    const size = readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
    expect(size).toBeGreaterThan(30 * 1024 ** 2);
    expect(size).toBeLessThan(53 * 1024 ** 2);
  });

  const LONG_RUN = ['21T09:00', '21T22:59', '21T23:15', '21T23:30', '22T09:00', '23T09:00'];
  it.each<[what: string, counted: string | undefined, times: string[], asked: string[]]>([
    ['a day that has ended', undefined, ['21T09:00', '22T09:00', '22T10:00'], ['22T09:00']],
    ['no day again', '22T00:30', ['22T09:00', '22T10:00'], []],
    ['a day of which a part was counted before its end', '21T23:05', ['22T09:00'], ['22T09:00']],
    ['no day whose last calls may still run', undefined, ['21T09:00', '21T22:59', '21T23:05'], []],
    ['each day of a long run', undefined, LONG_RUN, ['21T23:15', '23T09:00']],
  ])('asks for the count of %s', (_, counted, times, asked) => {
    const timeOf = (short: string) => new Date(`2026-11-${short}:00.000Z`);
    const count = (at: string) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, 'stats.ndjson'), '');
      utimesSync(join(folder, 'stats.ndjson'), timeOf(at), timeOf(at));
    };
    if (counted !== undefined) count(counted);
    const seen: string[] = [];
    for (const at of times)
      new CallLog(folder, () => {
        seen.push(at);
        count(at);
      }).append(call({ at: timeOf(at).toISOString() }));
    expect(seen).toEqual(asked);
  });

  it('processes that write to the log at the same time lose no line, even while it moves to a new file', async () => {
    const program = `
      import { CallLog } from '../../../src/store/machine/call-log.ts';
      const [folder, name] = process.argv.slice(2);
      const log = new CallLog(folder);
      process.stdin.once('data', () => {
        for (let number = 0; number < 60; number += 1) {
          log.append({ ...${JSON.stringify(call({ path: '/x'.repeat(60_000) }))},
            at: new Date().toISOString(), tppRequestId: name + '-' + number });
        }
        process.exit();
      });`;
    const writers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => startProgram(program, temporary, { arguments: [folder, name] })),
    );
    for (const { process } of writers) process.stdin?.write('go\n');
    await Promise.all(writers.map(({ output }) => output));
    const written = ['a', 'b', 'c', 'd'].flatMap((name) =>
      Array.from({ length: 60 }, (_, number) => `${name}-${number}`),
    );
    expect(readdirSync(folder).length).toBeGreaterThan(1);
    expect(idsIn(folder).sort()).toEqual(written.sort());
  });
});

describe('a command that runs while psd2 forgets a customer', () => {
  const OTHER = call({ path: '/private/customers/2073915', tppRequestId: 'other' });
  const isTheirs = (each: NamedCall) => wordsOf(each).includes('1048262');

  /** A log of a command that began before, and the forgetting. */
  function begun() {
    const { root, log: folder } = newConfigFolder(temporary);
    const { forgotten } = storeFolder(root);
    const log = new CallLog(folder, undefined, (each) => forgotten.has('bank', () => wordsOf(each)));
    const forget = async () => {
      await storeFolder(root).forgotten.add('bank', ['1048262'], new Date());
      return removeCalls(folder, new Date().toISOString(), isTheirs);
    };
    return { root, folder, log, forget };
  }

  it('writes nothing of the customer when it goes on, and of others what it would', async () => {
    const { root, folder, log, forget } = begun();
    for (const each of [call(), OTHER]) log.append(each);
    expect(await forget()).toBe(1);
    const theirs = [
      {},
      { path: '/accounts', customer: '1048262' },
      { path: '/x/1048262%2Fy', flow: '1048262' },
    ];
    for (const changes of theirs) log.append(call(changes));
    log.append({ ...OTHER, tppRequestId: 'later' });
    log.append(call({ profile: 'bank', path: '/token', tppRequestId: 'nobody' }));
    expect(idsIn(folder)).toEqual(['nobody', 'later', 'other']);
    // Whoever begins now was told of the customer by somebody who knows them.
    const { forgotten } = storeFolder(root);
    new CallLog(folder, undefined, (each) => forgotten.has('bank', () => wordsOf(each))).append(call());
    expect(idsIn(folder)[0]).toBe('q1');
  });

  it('removes what it found of answers of the customer, and keeps that of others', async () => {
    const { folder, log, forget } = begun();
    for (const each of [call(), OTHER]) {
      log.append(each);
      log.appendUnusable(each);
    }
    expect(await forget()).toBe(2);
    log.appendUnusable(call());
    const left = readdirSync(folder).filter((name) => name.startsWith('calls'));
    const lines = left.flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'));
    expect(lines.filter((line) => line.includes('"unusable":"other"'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('1048262'))).toEqual([]);
  });

  it.each(['statSync', 'openSync', 'writeSync'] as const)(
    'writes nothing of the customer if it is stopped for an hour before its %s',
    async (name) => {
      const { root: elsewhere } = newConfigFolder(temporary);
      await storeFolder(elsewhere).forgotten.add('bank', ['1048262'], new Date());
      for (const isOpen of [true, false]) {
        const { root, folder, log } = begun();
        if (isOpen) log.append(OTHER);
        else new CallLog(folder).append(OTHER);
        if (isOpen && name === 'openSync') continue;
        once(name, (goOn) => {
          copyFileSync(join(elsewhere, 'log/forgotten.ndjson'), join(folder, 'forgotten.ndjson'));
          removeCalls(folder, new Date().toISOString(), isTheirs);
          return goOn();
        });
        log.append(call());
        log.append(call({ tppRequestId: 'after' }));
        expect(idsIn(storeFolder(root).log)).toEqual(['other']);
      }
    },
  );
});
