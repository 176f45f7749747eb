import fs, {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseDate } from '../../../src/domain/calendar.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { type Products, SyncClaim, storedProgress } from '../../../src/store/files/sync/claim.ts';
import { thrownBy } from '../../support/thrown.ts';
import { openBelow } from '../open-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { failing, once, replace, secondsWhileWaiting } from '../waiting.ts';

const never = new AbortController().signal;
const INTERRUPTED = AbortSignal.abort(new Psd2Error('interrupted', 'Interrupted'));
const through = (text: string): Products => ({
  A1: { from: parseDate('--from', '2026-11-01'), through: parseDate('--to', text), settled: 0 },
});
/** Some progress, and more. */
const [SOME, MORE] = [through('2026-11-03'), through('2026-11-05')];

/** A line of a claim's file, by default of a run that works. */
const line = (claim: number, products: Products, { run = 'them', ended = false } = {}) =>
  `${JSON.stringify({ claim, run, ended, products })}\n`;

const temporary = temporaryFolder();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(temporary, 'customer-'));
  mkdirSync(join(folder, 'transactions'));
});
const pathOf = (run: string) => join(folder, `run-${run}`);
const fileOf = (number: number) => join(folder, `sync-${number}.ndjson`);
const take = (id = 'us', signal = never) => SyncClaim.take(folder, { id, pathOf }, signal);
const claims = () => readdirSync(folder).filter((name) => name.startsWith('sync'));
const linesOf = (number: number) =>
  readFileSync(fileOf(number), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((text): unknown => JSON.parse(text));
/** Another run has the claim, and has stored some progress. */
const theyWork = (number = 1, products = SOME) =>
  writeFileSync(fileOf(number), line(number, products), { mode: 0o600 });
/** The lock of the other run. The run is alive while somebody touches it. */
const lock = () => `${pathOf('them')}.lock`;
const theyAreAlive = (at = 0) => {
  writeFileSync(lock(), '{"pid":7,"host":"h","since":"2026-11-21T10:00:00.000Z"}');
  utimesSync(lock(), at, at);
};

it.each<[string, Record<number, string>, Products]>([
  ['one claim', { 3: line(3, SOME) }, SOME],
  ['two claims, the later of more', { 1: line(1, SOME), 2: line(2, MORE) }, MORE],
  ['two claims, the later of less', { 1: line(1, MORE), 2: line(2, SOME) }, SOME],
  ['claims of one digit and of two', { 9: line(9, SOME), 10: line(10, MORE) }, MORE],
  ['a claim that has written nothing yet', { 1: line(1, SOME), 2: '' }, SOME],
  ['a claim whose first line was cut short', { 1: line(1, SOME), 2: line(2, MORE).slice(0, -9) }, SOME],
  ['claims that have written nothing yet', { 1: '', 2: '' }, {}],
  ['lines, the last one of less', { 1: line(1, MORE) + line(1, SOME) }, SOME],
  ['lines, the last one cut short', { 1: line(1, SOME) + line(1, MORE).slice(0, -9) }, SOME],
])('the progress of a folder is what the last run has stored: %s', (_, files, products) => {
  expect(storedProgress(folder)).toEqual({});
  for (const [number, text] of Object.entries(files)) writeFileSync(fileOf(Number(number)), text);
  expect(storedProgress(folder)).toEqual(products);
});

describe('a folder that no run works in', () => {
  it('the first run takes number 1, finds nothing, keeps its claim to its owner, and does not wait for the disk', async () => {
    once('fdatasyncSync', () => expect.unreachable('it waits for the disk'));
    const claim = await take();
    expect(claim).toMatchObject({ number: 1, found: {}, left: 'ended', isLost: false });
    expect(linesOf(1)).toEqual([{ claim: 1, run: 'us', ended: false, products: {} }]);
    expect(statSync(fileOf(1)).mode & 0o777).toBe(0o600);
    claim.assertHeld();
  });

  it('a run continues the file of a run that has ended, under the next name', async () => {
    writeFileSync(fileOf(1), line(1, SOME) + line(1, MORE, { ended: true }));
    const { ino } = statSync(fileOf(1));
    expect(await take()).toMatchObject({ number: 2, found: MORE, left: 'ended' });
    expect(claims()).toEqual(['sync-2.ndjson']);
    expect(statSync(fileOf(2)).ino).toBe(ino);
    expect(linesOf(2).at(-1)).toEqual({ claim: 2, run: 'us', ended: false, products: MORE });
    expect(linesOf(2)).toHaveLength(3);
  });

  it('a run that waits for nobody does not ask whether it was interrupted', async () => {
    writeFileSync(fileOf(1), line(1, SOME, { ended: true }));
    expect((await take('us', INTERRUPTED)).number).toBe(2);
  });

  it.each([
    [64 * 1024, 'continues it', 1_000],
    [64 * 1024 + 1, 'begins a new file', 1],
  ])('a run that finds a file of %i bytes %s', async (size, _, least) => {
    const last = line(9, SOME, { ended: true });
    const filler = line(9, {}, { run: 'x'.repeat(100) });
    let text = '';
    while (text.length + 2 * filler.length + last.length < size) text += filler;
    text += line(9, {}, { run: 'x'.repeat(100 + size - text.length - filler.length - last.length) });
    writeFileSync(fileOf(9), text + last);
    expect(statSync(fileOf(9)).size).toBe(size);
    expect(await take()).toMatchObject({ number: 10, found: SOME, left: 'ended' });
    expect(claims()).toEqual(['sync-10.ndjson']);
    if (least === 1) expect(linesOf(10)).toEqual([{ claim: 10, run: 'us', ended: false, products: SOME }]);
    else expect(statSync(fileOf(10)).size).toBeGreaterThan(size);
  });

  it('on a file system without hard links, a run begins a new file with the same progress', async () => {
    writeFileSync(fileOf(3), line(3, SOME, { ended: true }));
    once('linkSync', failing('EPERM'));
    expect(await take()).toMatchObject({ number: 4, found: SOME, left: 'ended' });
    expect(linesOf(4)).toEqual([{ claim: 4, run: 'us', ended: false, products: SOME }]);
    expect(claims()).toEqual(['sync-4.ndjson']);
  });

  it('numbers count as numbers, and other files are not claims', async () => {
    for (const name of ['sync-012.ndjson', 'sync-0.ndjson', 'sync-11.ndjson.damaged', 'async-12.ndjson'])
      writeFileSync(join(folder, name), 'no claim');
    for (const number of [9, 10]) writeFileSync(fileOf(number), line(number, SOME, { ended: true }));
    expect((await take()).number).toBe(11);
  });

  it('a run closes every file that it opens', async () => {
    (await take('first')).write(SOME, false);
    (await take('second')).write(MORE, true);
    expect(openBelow(folder)).toEqual([]);
  });
});

describe('a run that is faster', () => {
  it.each([
    ['the number', 1],
    ['a higher number, so that its own is outdated', 2],
  ])(
    'if another run takes %s at the same moment and ends, this one continues its file',
    async (_, theirs) => {
      once('openSync', (open) => {
        writeFileSync(fileOf(theirs), line(theirs, SOME, { ended: true }));
        return open();
      });
      expect(await take()).toMatchObject({ number: theirs + 1, found: SOME, left: 'ended' });
      expect(claims()).toEqual([`sync-${theirs + 1}.ndjson`]);
    },
  );

  it.each([
    ['takes the next number', false],
    ['takes the next number and removes the file', true],
  ])('if another run %s at the same moment and ends, this one continues its file', async (_, removes) => {
    writeFileSync(fileOf(1), line(1, SOME, { ended: true }));
    once('linkSync', (link) => {
      writeFileSync(fileOf(2), line(2, MORE, { ended: true }));
      if (removes) rmSync(fileOf(1));
      return link();
    });
    expect(await take()).toMatchObject({ number: 3, found: MORE, left: 'ended' });
    expect(claims()).toEqual(['sync-3.ndjson']);
  });

  it('a claim that another run removes before psd2 has read it does not make psd2 wait', async () => {
    writeFileSync(fileOf(1), line(1, SOME));
    const time = secondsWhileWaiting();
    once('readFileSync', (read) => {
      writeFileSync(fileOf(2), line(2, MORE, { ended: true }));
      rmSync(fileOf(1));
      return read();
    });
    expect(await take()).toMatchObject({ number: 3, found: MORE, left: 'ended' });
    expect(time.seconds).toBe(1);
  });

  it('psd2 looks again if another run takes a number at the same moment that a dead run leaves free', async () => {
    theyWork();
    secondsWhileWaiting();
    once('openSync', (open) => {
      writeFileSync(fileOf(2), line(2, MORE, { ended: true }));
      return open();
    });
    expect(await take()).toMatchObject({ number: 3, found: MORE, left: 'ended' });
  });

  it('the progress is not lost if another run continues just when psd2 takes it for dead', async () => {
    theyWork();
    writeFileSync(fileOf(2), '');
    secondsWhileWaiting();
    const { readFileSync: read } = fs;
    replace(fs, 'readFileSync', (...args: never[]) => {
      if (String(args[0]) === fileOf(1) && existsSync(fileOf(1))) {
        writeFileSync(fileOf(2), line(2, MORE, { ended: true }));
        rmSync(fileOf(1));
      }
      return Reflect.apply(read, fs, args);
    });
    expect(await take()).toMatchObject({ number: 3, found: MORE, left: 'ended' });
  });

  it('two runs may remove the same file', async () => {
    theyWork();
    once('rmSync', (remove) => {
      remove();
      return remove();
    });
    expect((await take()).number).toBe(2);
  });

  it('a run that is overtaken while it stores its first progress stops', async () => {
    theyWork();
    secondsWhileWaiting();
    once('writeFileSync', (write) => {
      write();
      writeFileSync(fileOf(3), line(3, MORE));
      rmSync(fileOf(2));
    });
    await expect(take()).rejects.toMatchObject({ code: 'overtaken' });
    expect(linesOf(3)).toHaveLength(1);
    expect(existsSync(fileOf(1))).toBe(true);
  });
});

describe('a folder that another run works in', () => {
  it('a run that does not respond is overtaken at once, and may still have its file open', async () => {
    theyWork();
    const { ino } = statSync(fileOf(1));
    expect(await take()).toMatchObject({ number: 2, found: SOME, left: 'begun' });
    expect(claims()).toEqual(['sync-2.ndjson']);
    expect(statSync(fileOf(2)).ino).not.toBe(ino);
    expect(linesOf(2)).toEqual([{ claim: 2, run: 'us', ended: false, products: SOME }]);
  });

  it('psd2 waits for a run that is alive, and continues after it', async () => {
    theyWork();
    theyAreAlive();
    const time = secondsWhileWaiting((seconds) => {
      if (seconds < 12) return theyAreAlive(seconds);
      appendFileSync(fileOf(1), line(1, MORE, { ended: true }));
    });
    expect(await take()).toMatchObject({ number: 2, found: MORE, left: 'ended' });
    expect(time.seconds).toBe(12);
    // It looks often, but not all the time.
    for (const milliseconds of time.asked) {
      expect(milliseconds).toBeGreaterThanOrEqual(20);
      expect(milliseconds).toBeLessThanOrEqual(100);
    }
  });

  it('after ten seconds, the error names the run that is still alive', async () => {
    theyWork();
    theyAreAlive();
    const time = secondsWhileWaiting(theyAreAlive);
    await expect(take()).rejects.toMatchObject({
      code: 'config',
      message: `The folder ${folder} is in use by another psd2: process 7 on h since 2026-11-21T10:00:00.000Z`,
      hint: 'Wait for it to end.',
    });
    // It looks at 10 s, when the time is just not up, and then at 12 s, and each look takes a second.
    expect(time.seconds).toBe(13);
    expect(claims()).toEqual(['sync-1.ndjson']);
  });

  it('a run that ends while psd2 finds out whether it is alive was not stopped in the middle', async () => {
    theyWork();
    theyAreAlive();
    secondsWhileWaiting((seconds) => {
      if (seconds > 1) return;
      appendFileSync(fileOf(1), line(1, MORE, { ended: true }));
      rmSync(lock());
    });
    expect(await take()).toMatchObject({ number: 2, found: MORE, left: 'ended' });
  });

  it('an operator who interrupts does not wait for the other run', async () => {
    theyWork();
    await expect(take('us', INTERRUPTED)).rejects.toMatchObject({ code: 'interrupted' });
    expect(claims()).toEqual(['sync-1.ndjson']);
  });

  it.each([
    ['nothing', ''],
    ['what a power cut leaves', '\0\0\0'],
    ['the beginning of a line', '{"cl'],
    ['half a line', '{"claim":2,"run":"th'],
    ['nothing since it has linked the file', undefined],
  ])('a run that has written %s has five seconds to go on', async (_, text) => {
    theyWork(1);
    if (text === undefined) {
      writeFileSync(fileOf(1), line(1, SOME, { ended: true }));
      linkSync(fileOf(1), fileOf(2));
    } else writeFileSync(fileOf(2), text);
    const time = secondsWhileWaiting();
    // The progress of the run before it still counts.
    expect(await take()).toMatchObject({ number: 3, found: SOME, left: 'begun' });
    expect(time.seconds).toBe(5);
    expect(claims()).toEqual(['sync-3.ndjson']);
  });

  it('the five seconds begin again with each new run', async () => {
    writeFileSync(fileOf(1), '');
    const time = secondsWhileWaiting((seconds) => {
      if (seconds === 4) writeFileSync(fileOf(2), '');
    });
    expect(await take()).toMatchObject({ number: 3, found: {}, left: 'begun' });
    expect(time.seconds).toBe(9);
  });

  it.each([
    ['a kill', MORE, `${line(1, SOME)}${line(1, MORE)}\n\0\0${line(1, {}).slice(0, -9)}`],
    ['an end that is missing', SOME, line(1, SOME) + line(1, MORE).trimEnd()],
  ])('only the last complete line counts after %s', async (_, found, text) => {
    writeFileSync(fileOf(1), text);
    expect(await take()).toMatchObject({ number: 2, found, left: 'begun' });
  });

  it('the progress is on the disk before the earlier files go, the oldest first', async () => {
    for (const number of [1, 2, 11]) theyWork(number);
    const calls: string[] = [];
    for (const name of ['fdatasyncSync', 'rmSync'] as const) {
      const original = fs[name];
      replace(fs, name, (...args: never[]) => {
        calls.push(`${name} ${claims().join(' ')}`);
        return Reflect.apply(original, fs, args);
      });
    }
    await take();
    const [first, second, third, ours] = [1, 2, 11, 12].map((number) => `sync-${number}.ndjson`);
    expect(calls.map((call) => new Set(call.split(' ')))).toEqual([
      new Set(['fdatasyncSync', first, second, third, ours]),
      new Set(['rmSync', first, second, third, ours]),
      new Set(['rmSync', second, third, ours]),
      new Set(['rmSync', third, ours]),
    ]);
  });
});

describe('a run that was overtaken', () => {
  const overtaken = () => ({
    code: 'overtaken',
    message: `Another psd2 sync has taken over the folder ${folder}`,
    hint: 'This sync did not respond for some seconds, and has stopped. The other one continues.',
  });

  it.each<[string, () => void]>([
    ['while both files are there', () => theyWork(2)],
    ['after its own file is gone', () => rmSync(fileOf(1))],
  ])('a run that was overtaken gets an error %s', async (_, takeOver) => {
    const claim = await take();
    takeOver();
    expect(claim.isLost).toBe(false);
    expect(thrownBy(() => claim.assertHeld())).toMatchObject(overtaken());
    expect(claim.isLost).toBe(true);
  });

  it('a run that was overtaken does not write its progress, and does not make its file again', async () => {
    const claim = await take();
    theyWork(2);
    rmSync(fileOf(1));
    expect(thrownBy(() => claim.write(MORE, true))).toMatchObject(overtaken());
    expect(claims()).toEqual(['sync-2.ndjson']);
    expect(linesOf(2)).toHaveLength(1);
  });

  it('what a run writes after another took the next number does not count', async () => {
    const claim = await take();
    claim.write(SOME, false);
    const theirs = await take('them');
    // The first run has the file still open.
    writeFileSync(fileOf(1), line(1, MORE, { ended: true }));
    theirs.assertHeld();
    theirs.write(SOME, true);
    expect(await take('next')).toMatchObject({ number: 3, found: SOME, left: 'ended' });
  });
});

describe('a folder that cannot be used', () => {
  it.each(['a letter\n', 'a letter', '\n', '{"claims":1}\n', 'x\0'].map((text) => [text]))(
    'progress that psd2 did not write is refused: %j',
    async (text) => {
      writeFileSync(fileOf(1), text);
      await expect(take()).rejects.toMatchObject({
        code: 'config',
        message: `${fileOf(1)} is damaged: it is not the progress that psd2 sync wrote`,
        hint: `Restore it, or move it away. The next sync then reads everything again, and adds what is missing: mv ${fileOf(1)} ${fileOf(1)}.damaged`,
      });
      expect(readFileSync(fileOf(1), 'utf8')).toBe(text);
    },
  );

  it.each([
    ['a day that does not exist', '2026-11-03', '2026-11-31'],
    ['a number for a day', '"2026-11-03"', '20261103'],
    ['a list of days for a day', '"2026-11-03"', '["2026-11-03"]'],
    ['less than no bytes', '"settled":0', '"settled":-1'],
    ['another size', '"settled":0', '"settled":0,"size":"1"'],
    ['no run', '"run":"them",', ''],
  ])('a line with %s counts as half written, and the line before it counts', async (_, text, damaged) => {
    writeFileSync(fileOf(1), line(1, MORE) + line(1, SOME).replace(text, damaged));
    expect(await take()).toMatchObject({ number: 2, found: MORE, left: 'begun' });
  });

  it('a claim that is a folder cannot be read, and a folder that cannot be listed is named', async () => {
    mkdirSync(fileOf(1));
    await expect(take()).rejects.toMatchObject({
      code: 'config',
      message: `${fileOf(1)} cannot be read: a folder has that name`,
      hint: 'Check who owns it.',
    });
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    await expect(take()).rejects.toMatchObject({
      code: 'config',
      message: `The folder ${folder} cannot be read: a part of the path is not a folder`,
      hint: 'Check who owns it and its mode.',
    });
  });

  const full = (number: number) => ({
    code: 'config',
    message: `${fileOf(number)} cannot be written: the disk is full`,
    hint: 'Check the free space, and who owns the folder. What is in the files stays. The next sync continues.',
  });

  it('on a full disk, no claim is taken', async () => {
    once('openSync', failing('ENOSPC'));
    await expect(take()).rejects.toMatchObject(full(1));
    expect(claims()).toEqual([]);
  });

  it.each(['writeFileSync', 'fdatasyncSync'] as const)(
    'if the new progress cannot be stored (%s), the old progress stays',
    async (step) => {
      theyWork();
      once(step, failing('ENOSPC'));
      await expect(take()).rejects.toMatchObject(full(2));
      expect(linesOf(1)).toEqual([{ claim: 1, run: 'them', ended: false, products: SOME }]);
    },
  );

  it('progress that cannot be written is an error, and the run still has its claim', async () => {
    const claim = await take();
    once('writeFileSync', failing('ENOSPC'));
    expect(() => claim.write(SOME, false)).toThrow(expect.objectContaining(full(1)));
    expect(claim.isLost).toBe(false);
    claim.write(SOME, true);
    expect(await take()).toMatchObject({ number: 2, found: SOME, left: 'ended' });
  });
});
