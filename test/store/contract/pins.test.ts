import { expect, it } from 'vitest';
import { named } from '../../support/named.ts';
import { useBackends } from './backends.ts';

const BANK = new URL('https://bank.example/psd2');
const SAME_BANK = new URL('https://BANK.example.:443/PSD2/');
const OTHER = new URL('https://other.example/psd2');

it.each(named(useBackends()))(
  'PINs of a person that the bank has not accepted are counted for all workers and profiles in %s',
  async (_name, { open }) => {
    const place = await open();
    const pins = async (profile = 'bank', bank = BANK) => (await place.worker()).open(profile, bank).pins();
    const [one, other] = [await pins(), await pins('production')];
    expect(await one.count('anna')).toBe(0);
    expect(await one.add('anna', 0)).toBe(true);
    // Another worker has counted one meanwhile.
    expect(await other.add('anna', 0)).toBe(false);
    expect(await other.count('anna')).toBe(1);
    const both = await Promise.all([one.add('anna', 1), other.add('anna', 1)]);
    expect(both.sort()).toEqual([false, true]);
    expect(await one.count('anna')).toBe(2);
    for (const psuId of ['bruno', undefined]) expect(await one.count(psuId)).toBe(0);
    expect(await (await pins('bank', OTHER)).count('anna')).toBe(0);
    for (const spelling of [' Anna', 'ANNA', '\uff41nna'])
      expect([spelling, await (await pins('bank', SAME_BANK)).count(spelling)]).toEqual([spelling, 2]);
    expect(await one.add(undefined, 0)).toBe(true);
    expect(place.everything()).not.toContain('anna');
    await other.clear('anna');
    await other.clear('anna');
    expect([await one.count('anna'), await one.count(undefined)]).toEqual([0, 1]);
    expect(await one.add('anna', 0)).toBe(true);
  },
);

it.each(named(useBackends()))(
  'a copy takes the PINs along that the bank has not accepted, and never makes them fewer, in %s',
  async (_name, { open }) => {
    const [place, other] = [await open(), await open()];
    const pins = async (at: typeof place) => (await at.worker()).open('bank', BANK).pins();
    await (await pins(place)).add('anna', 0);
    await (await pins(place)).add('anna', 1);
    const [counted] = await place.side().pins();
    expect(counted).toEqual({ person: expect.stringMatching(/^[0-9a-f]{64}$/), sent: 2 });
    const { person = '' } = counted ?? {};
    for (const sent of [1, 2, 1]) await other.side().countPins({ person, sent });
    expect(await (await pins(other)).count('anna')).toBe(2);
  },
);
