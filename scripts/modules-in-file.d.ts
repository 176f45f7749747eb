export function compileWithFile(text: string): Promise<string>;
