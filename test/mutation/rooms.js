/**
 * The rooms whose mutants the tests have to notice, each with the score that it must reach (percent), the sources, and the
 * tests beside them. What moves money is a room of its own: there more is asked.
 *
 * @type {Record<string, { least: number, mutate: string[], tests: string[] }>}
 */
export const ROOMS = {
  money: {
    least: 95,
    mutate: [
      'src/flows/operation.ts',
      'src/flows/session.ts',
      'src/flows/outcome/execute-outcome.ts',
      'src/domain/operation.ts',
      'src/domain/transfer.ts',
      'src/bank/call/exchange.ts',
      'src/bank/call/failure.ts',
    ],
    tests: ['test/flows', 'test/domain', 'test/bank', 'test/store'],
  },
  journal: {
    least: 95,
    mutate: [
      'src/store/files/flows.ts',
      'src/store/files/flow-file.ts',
      'src/store/disk/lock.ts',
      'src/store/disk/lock-beat.ts',
    ],
    tests: ['test/store', 'test/flows'],
  },
  flows: { least: 90, mutate: ['src/flows/**'], tests: ['test/flows'] },
  domain: { least: 90, mutate: ['src/domain/**'], tests: ['test/domain', 'test/flows'] },
  bank: { least: 90, mutate: ['src/bank/**'], tests: ['test/bank', 'test/wire'] },
  signature: { least: 90, mutate: ['src/signature/**'], tests: ['test/signature', 'test/bank'] },
  store: { least: 90, mutate: ['src/store/**'], tests: ['test/store', 'test/flows'] },
  certificates: { least: 90, mutate: ['src/certificates/**'], tests: ['test/certificates'] },
  statements: { least: 90, mutate: ['src/statements/**'], tests: ['test/statements'] },
  callback: {
    least: 90,
    mutate: ['src/callback/**', 'src/terminal/clean.ts'],
    tests: ['test/callback', 'test/terminal/clean.test.ts'],
  },
  strict: { least: 90, mutate: ['src/sandbox/strict/**'], tests: ['test/sandbox'] },
};
