// Builds psd2, unless the last build was made of the same sources.
import { isBuilt } from './last-build.js';

if (!isBuilt()) await import('./build.js');
