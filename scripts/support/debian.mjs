// Debian packages that tests need: installed where they are missing, as root on Debian or a child of it.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** Whether packages can be installed here. */
export function canInstallPackages() {
  const isDebian =
    existsSync('/etc/os-release') && /\bdebian\b/.test(readFileSync('/etc/os-release', 'utf8'));
  return isDebian && process.getuid?.() === 0;
}

/**
 * Installs packages, without those that they only recommend. Servers among them are not started.
 *
 * @param {readonly string[]} packages
 * @throws {Error} with what apt-get said.
 */
export function installPackages(packages) {
  withoutStarting(() => {
    aptGet('update');
    aptGet('install', '-y', '--no-install-recommends', ...packages);
  });
}

/** What the packages' scripts ask before they start a service. 101: it may not be started. */
const POLICY = '/usr/sbin/policy-rc.d';

function withoutStarting(action) {
  const hadPolicy = existsSync(POLICY);
  if (!hadPolicy) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    action();
  } finally {
    if (!hadPolicy) rmSync(POLICY, { force: true });
  }
}

function aptGet(...args) {
  // Waits for a lock that another apt-get holds, instead of failing.
  const options = ['-q', '-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=3'];
  try {
    execFileSync('apt-get', [...options, ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 600_000,
    });
  } catch (error) {
    throw new Error(`apt-get ${args.join(' ')} failed:\n${error.stderr || error.message}`, { cause: error });
  }
}
