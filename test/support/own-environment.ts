import { afterAll } from 'vitest';

// One process runs many test files. Each leaves the environment as it was: what one sets would decide the next one.

const before = new Map(Object.entries(process.env));

afterAll(() => {
  for (const name of Object.keys(process.env)) if (!before.has(name)) delete process.env[name];
  for (const [name, value] of before) if (process.env[name] !== value) process.env[name] = value;
});

// Each file loads psd2 anew, and psd2 watches these once, so Node would warn of a leak in the output of some test.
for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0);
