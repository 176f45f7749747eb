export function keepAllowed(env: Record<string, string>): string[];
