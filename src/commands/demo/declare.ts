import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareDemo(demo: Command, run: Run): void {
  demo
    .addHelpText('after', examples('psd2 demo'))
    .action(() => run(async (context) => (await import('./demo.ts')).demo(context)));
}
