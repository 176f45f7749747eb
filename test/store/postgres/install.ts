import { installPrograms } from '../../support/programs.ts';

/** Installs PostgreSQL if it is missing. */
export default function setUp(): void {
  installPrograms(['postgresql']);
}
