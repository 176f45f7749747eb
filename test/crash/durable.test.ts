import { expect, it } from 'vitest';
import { named } from '../support/named.ts';
import { PATIENCE_MS, useCrashBank } from './bank.ts';
import { FLOWS } from './scenarios.ts';

const bank = useCrashBank();
const at = (points: string[], pattern: RegExp) => points.findLastIndex((point) => pattern.test(point));

it.each(named(FLOWS))(
  '%s: before psd2 sends a request that changes something, the request and its id are on disk',
  async (_name, scenario) => {
    const place = bank.newPlace();
    if (scenario.prepare) await place.psd2(scenario.prepare);
    const { code, stderr, trace } = await place.watched(scenario.begin(place));
    expect(code, stderr).toBe(0);

    const requests = trace.flatMap(({ point, requestId }, index) =>
      /^before (?:POST|PUT) \/private\//.test(point ?? '') ? [{ index, requestId }] : [],
    );
    expect(requests.length).toBeGreaterThan(1);
    for (const { index, requestId } of requests) {
      const points = trace.slice(0, index).map(({ point }) => point ?? '');
      const announced = at(points, /^after \w+ flows\/sandbox\/<flow>\.ndjson [a-z-]+-sent #/);
      const synced = at(points, /^after f(?:data)?sync flows\/sandbox\/<flow>\.ndjson #/);
      expect(announced).toBeGreaterThan(at(points, /^before (?:GET|POST|PUT) /));
      expect(synced).toBeGreaterThan(announced);
      expect(place.journal()).toContain(`"requestId":"${requestId}"`);
    }
    // The folder's entry for the file is on disk too.
    const before = trace.slice(0, requests[0]?.index).map(({ point }) => point ?? '');
    expect(at(before, /^after f(?:data)?sync flows\/sandbox #/)).toBeGreaterThan(-1);
    place.remove();
  },
  PATIENCE_MS,
);
