/**
 * Begins the same work in several workers at once, and tells in which order it began and ended.
 *
 * @param workers each begins the work as it is to be done by one at a time
 * @param look asks the home for something: while one is at work, the others would get in if they may
 */
export async function orderOf(
  workers: ((work: () => Promise<void>) => Promise<unknown>)[],
  look: () => Promise<unknown>,
): Promise<string[]> {
  // A worker that has asked once need not connect first.
  await look();
  const steps: string[] = [];
  const work = async () => {
    steps.push('begins');
    for (let times = 0; times < 20; times += 1) {
      await look();
      await new Promise((resolve) => setImmediate(resolve));
    }
    steps.push('ends');
  };
  await Promise.all(workers.map((begin) => begin(work)));
  return steps;
}
