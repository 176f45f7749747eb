export async function* readPain001(_a: unknown, _b: unknown): AsyncGenerator<never> {}
