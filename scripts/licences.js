// Fails if a package that is bundled, or installed with psd2, has a licence that is not permissive.
import { bundle } from './bundle.js';
import { bundledPackages, refusedLicences } from './third-party.js';

const { metafile } = await bundle('dist');
const refused = refusedLicences(bundledPackages(metafile));
if (refused.length > 0) {
  process.stderr.write(
    `These licences are not permissive (scripts/third-party.js says which are):\n${refused.join('\n')}\n`,
  );
  process.exitCode = 1;
}
