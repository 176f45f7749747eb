import { existsSync } from 'node:fs';
import { adviceIn, Psd2Error } from '../../errors.ts';
import { checkStore, inspectStore } from '../../store/machine/folder.ts';
import type { Context } from '../context.ts';
import type { Finding } from './diagnosis.ts';

/** Whether psd2 may use the configuration folder. What stands in one that others can change is not even read. */
export function isBelievable({ folder }: Context): boolean {
  try {
    checkStore(folder, () => {});
    return true;
  } catch (error) {
    if (error instanceof Psd2Error) return false;
    throw error;
  }
}

/** Whether psd2 can trust the stored files and nobody else can read them: the check that every command makes. */
export function checkModes({ folder, terminal }: Context): Finding {
  if (process.platform === 'win32')
    return { status: 'skip', detail: 'file modes mean nothing on Windows', fix: null };
  checkStore(folder, terminal.warn);
  const { root } = folder;
  if (!existsSync(root)) return { status: 'skip', detail: `there is no folder ${root} yet`, fix: null };
  const { faults, listable } = inspectStore(folder);
  const [first, ...more] = faults;
  if (first) {
    return {
      status: 'fail',
      detail: more.length === 0 ? first.message : `${first.message}, and so it is with ${more.length} more`,
      fix:
        more.length === 0
          ? adviceIn(first)
          : { hint: `${first.hint} All of them at once: chmod -R go= ${root}` },
    };
  }
  if (listable.length > 0) {
    return {
      status: 'warn',
      detail: `others can list ${listable.slice(0, 3).join(', ')}${listable.length > 3 ? ` and ${listable.length - 3} more` : ''}`,
      fix: { hint: `Run: chmod 700 ${listable.join(' ')}` },
    };
  }
  return {
    status: 'ok',
    detail: `${root} and what is in it can be read and changed by you alone`,
    fix: null,
  };
}
