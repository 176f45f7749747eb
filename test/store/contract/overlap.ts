/**
 * Begins the same work in several workers at once. @returns the order in which the work began and ended
 *
 * @param workers each function begins the work, which only one worker may do at a time
 * @param look reads something from the backend. While one worker is busy, this gives the others time to get in, if they may
 */
export async function orderOf(
  workers: ((work: () => Promise<void>) => Promise<unknown>)[],
  look: () => Promise<unknown>,
): Promise<string[]> {
  // After one look, no worker has to connect first.
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
