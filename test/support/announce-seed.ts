/** Says which sample of the long tests this run takes, so that a run can be repeated. */
export default function setUp(): () => void {
  const isSample = process.env.TEST_ALL === undefined && process.env.CRASH_MATRIX !== 'all';
  const told = `TEST_SEED=${process.env.TEST_SEED} chose ${isSample ? 'the sample of the long tests' : 'the random parts'}\n`;
  process.stdout.write(told);
  // Once more where a failure is read: after the tests.
  return () => void process.stdout.write(told);
}
