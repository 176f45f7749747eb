/** File system errors that the operator can do something about, in words. */
const REASONS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the limit for the size of a file is reached',
  EROFS: 'the file system is read-only',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EISDIR: 'there is a folder of that name',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'there is something else of that name',
  ENXIO: 'there is something else of that name',
  ELOOP: 'the links lead in a circle',
};

/** Why psd2 could not read or write a file, as the end of a sentence: `the disk is full`. */
export function reasonOf(error: unknown): string {
  const code = systemCode(error);
  if (code !== undefined) return REASONS[code] ?? code;
  return error instanceof Error ? error.message : String(error);
}

/** The code of an error of the file system, for example `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Whether an error of the file system means that the file does not exist. */
export function isMissing(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
