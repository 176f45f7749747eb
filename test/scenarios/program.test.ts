import { bySeed } from '../support/sample.ts';
import { PLAYED, playByProgram } from './program.ts';

// A tenth of the rows. The long tests play all of them.
playByProgram(bySeed(PLAYED, ({ name }) => name).slice(0, Math.ceil(PLAYED.length / 10)));
