import { stopBatches } from './batch.ts';

stopBatches('PostgreSQL');
