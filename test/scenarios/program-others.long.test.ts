import { PLAYED, playByProgram } from './program.ts';

playByProgram(PLAYED.filter(({ bank }) => bank !== 'cb'));
