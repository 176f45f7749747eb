import { stopRows } from './crash.ts';

stopRows(({ bank }) => bank !== 'cb');
