/** What a function throws. @throws TypeError if it throws nothing */
export function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new TypeError('It has thrown nothing');
}
