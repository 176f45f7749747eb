export function placeOfRun(): string;
