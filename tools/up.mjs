// The first command on a fresh clone, and every one after it.
//
//   node tools/up.mjs <name> [--build] -- <command> [flags…]
//
// Owns: installing what package-lock.json lists, building what changed (--build), and starting the command under Node
// 24 or newer with node_modules/.bin first on PATH. Knows nothing of what the command does. Plain JavaScript, node:
// imports only: it runs on any Node (>= 20) of the machine, before anything is installed.
//
// U1  Everything this file prints goes to stderr: stdout belongs to the command.
// U2  The command's exit code is ours. Death by a signal is death by the same signal.
// U3  A terminal's Ctrl-C, or a signal sent to npm, reaches the command once, though npm repeats to us what it
//     receives. One sent to the whole group without a terminal arrives twice within milliseconds, as in any npm script:
//     the command takes signals within half a second for one.
// U4  The command never outlives npm.
// U5  The machine's own Node is taken when it is new enough, the bundled one otherwise. Each is asked for its version
//     once: a bundled Node that cannot run here (another libc) is not taken.
// U6  A build is bundling (tools/bundle.mjs), which takes a second: types are checked by `npm run check` and `npm test`. The
//     console is built beside it by its Nx target, whose results all clones share. Nx is not even asked while the names,
//     sizes and times of the console's sources are those of its last build.
// U7  An installation, a build of more than a second and the start after them have one line each. What Nx prints appears
//     only when it fails.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const lockStamp = join(modules, '.dormouse-lock');
const pidFile = join(root, '.cache', 'up.pid');
const consoleStamp = join(root, '.cache', 'console.stamp');
const repeatMsMax = 500;
const buildNoticeMs = 1_000;
const writtenWithinMs = 1_000;
const nodeMajorMin = 24;
let hasWaited = false;
const onWindows = process.platform === 'win32';

const cut = process.argv.indexOf('--');
const [name, ...options] = process.argv.slice(2, cut < 0 ? 2 : cut);
const [command, ...args] = cut < 0 ? [] : process.argv.slice(cut + 1);
if (!name || !command) fail('usage: node tools/up.mjs <name> [--build] -- <command> [flags]');
if (Number(process.versions.node.split('.')[0]) < 20)
  fail(`Node 20 or newer is needed to start; this is ${process.version}`);

const lockHash = hashOf((hash) => hash.update(readFileSync(join(root, 'package-lock.json'))));
const wantsBuild = options.includes('--build');
if (!isInstalled() || wantsBuild) {
  await alone(async () => {
    if (!isInstalled()) install();
    if (wantsBuild) await build();
  });
}
if (hasWaited) say('starting');
handOver();

function isInstalled() {
  if (textOf(lockStamp) === lockHash) return true;
  if (!installedByHand()) return false;
  writeFileSync(lockStamp, lockHash);
  return true;
}

/** `npm install` keeps a lock of its own in node_modules: when it equals ours, nothing has to be done. */
function installedByHand() {
  const inside = textOf(join(modules, '.package-lock.json'));
  if (!inside) return false;
  const have = JSON.parse(inside).packages;
  const want = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const same = ([path, entry]) =>
    path === '' ||
    JSON.stringify(have[path] ?? null) === JSON.stringify(entry) ||
    (!have[path] && entry.optional === true);
  return Object.entries(want).every(same) && Object.keys(have).every((path) => want[path]);
}

function install() {
  const why = existsSync(modules) ? 'package-lock.json changed' : 'first run';
  sayPhase(`${why}: installing ${packageCount()} packages: about a minute`); // (U7)
  const flags = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const env = { ...process.env };
  for (const key of Object.keys(env)) if (/^npm_(lifecycle|package)_/i.test(key)) delete env[key];
  const npm = process.env.npm_execpath; // set by `npm run`: the same npm, without a search on PATH
  const byNpm = npm?.endsWith('.js') && existsSync(npm);
  const ran = byNpm
    ? spawnSync(process.execPath, [npm, ...flags], { cwd: root, stdio: ['ignore', 2, 2], env })
    : spawnSync('npm', flags, { cwd: root, stdio: ['ignore', 2, 2], env, shell: onWindows });
  if (ran.status !== 0) fail('npm ci failed (above). Nothing was started.', ran.status ?? 1);
  mkdirSync(modules, { recursive: true });
  if (nodeToUse() !== ownNode()) unlinkOwnNode();
  writeFileSync(lockStamp, lockHash);
}

/** Packages of the lock that are for this machine, without the workspaces. */
function packageCount() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const isForUs = ({ link, os, cpu }) =>
    !link && (os ?? [process.platform]).includes(process.platform) && (cpu ?? [process.arch]).includes(process.arch);
  return Object.entries(packages).filter(([path, entry]) => path.includes('node_modules/') && isForUs(entry)).length;
}

/** npm puts node_modules/.bin first on PATH: a bundled Node that is not taken must not be found there. */
function unlinkOwnNode() {
  for (const suffix of ['', '.cmd', '.ps1']) rmSync(join(modules, '.bin', `node${suffix}`), { force: true });
}

/** (U6) */
async function build() {
  const notice = setTimeout(() => sayPhase('building: half a minute the first time'), buildNoticeMs); // (U7)
  const bundles = script(join(root, 'tools', 'bundle.mjs'));
  const [status, consoleStatus] = await Promise.all([bundles, buildConsole()]);
  clearTimeout(notice);
  const failed = status || consoleStatus;
  if (failed !== 0) fail('the build failed (above). Nothing was started.', failed);
}

/** (U6) */
async function buildConsole() {
  const sources = [join(root, 'apps', 'console'), join(root, 'libs', 'client', 'src')];
  if (!existsSync(sources[0])) return 0;
  const state = hashOf((hash) => {
    hash.update(lockHash);
    for (const folder of sources) for (const line of stateOf(folder)) hash.update(line);
  });
  if (textOf(consoleStamp) === state && existsSync(join(sources[0], 'dist', 'index.html'))) return 0;
  const status = await quietScript('nx/dist/bin/nx.js', 'run', 'dormouse:console', '--outputStyle=static');
  if (status === 0) writeFileSync(consoleStamp, state);
  return status;
}

/** Name, size and time of every source below a folder. */
function stateOf(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['dist', 'node_modules'].includes(entry.name) ? [] : stateOf(path);
    const { size, mtimeMs } = statSync(path);
    return [`${path} ${size} ${mtimeMs}\n`];
  });
}

/** Runs a script of ours; resolves with its exit code. */
function script(file) {
  const child = spawn(nodeToUse(), [file], { cwd: root, stdio: ['ignore', 2, 2] });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

/** The same of a dependency's script, and what it prints appears only when it fails. (U7) */
function quietScript(file, ...flags) {
  const child = spawn(nodeToUse(), [join(modules, file), ...flags], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => printed.push(bytes));
  return new Promise((resolve) =>
    child.once('close', (code) => {
      if (code !== 0) process.stderr.write(Buffer.concat(printed));
      resolve(code ?? 1);
    }),
  );
}

/** Two first runs at once (a start and a test in two terminals) must not install into one another. */
async function alone(work) {
  mkdirSync(dirname(pidFile), { recursive: true });
  for (let told = false; !take(); told = true) {
    if (!told) say('another command is installing or building here: waiting for it');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  try {
    await work();
  } finally {
    rmSync(pidFile, { force: true });
  }
}

function take() {
  try {
    writeFileSync(pidFile, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (isLeft(pidFile)) rmSync(pidFile, { force: true });
    return false;
  }
}

/** Whether its process has ended. A file without a text is being written; after a second it is one that was not. */
function isLeft(file) {
  const pid = textOf(file);
  if (pid !== '') return !isAlive(Number(pid));
  const { mtimeMs = Date.now() } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs > writtenWithinMs;
}

function isAlive(pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function ownNode() {
  const build = `node-${onWindows ? 'win' : process.platform}-${process.arch}`;
  return join(modules, build, 'bin', onWindows ? 'node.exe' : 'node');
}

/**
 * (U5) npm says which Node runs it; the one that runs this file may be the bundled one already.
 *
 * @returns {string}
 */
function nodeToUse() {
  const found = [process.env.npm_node_execpath, process.execPath, ownNode()].find(isNewEnough);
  if (!found) fail(`install Node ${nodeMajorMin} (see .nvmrc) and run this again: no newer one was found`);
  return found;
}

function isNewEnough(file) {
  if (!file) return false;
  const version =
    file === process.execPath ? process.version : spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout;
  return Number(/^v(\d+)/.exec(version ?? '')?.[1]) >= nodeMajorMin;
}

function handOver() {
  const node = nodeToUse();
  const path = [join(modules, '.bin'), dirname(node), process.env.PATH ?? ''].join(delimiter);
  const env = { ...process.env, PATH: path };
  const file = command === 'node' ? node : command;
  const child = spawn(file, args, { cwd: root, stdio: 'inherit', env, shell: onWindows && command !== 'node' });
  child.on('error', (error) => fail(`cannot run ${file}: ${error.message}`));
  child.on('exit', (code, signal) => {
    // (U2)
    if (!signal) process.exit(code ?? 1);
    for (const each of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(each);
    process.kill(process.pid, signal);
  });
  passOn('SIGINT', child);
  passOn('SIGTERM', child);
  process.on('SIGHUP', () => {}); // a closing terminal signals the whole group; we stay for the exit code
  if (process.env.npm_lifecycle_event) stopWhenOrphaned(child);
}

/** (U3) The command is in our process group: it has a terminal's signals already; only npm's signals are passed on. */
function passOn(signal, child) {
  let sentAt = 0;
  process.on(signal, () => {
    if (signal === 'SIGINT' && inForeground()) return;
    if (Date.now() - sentAt < repeatMsMax) return;
    sentAt = Date.now();
    child.kill(signal);
  });
}

function inForeground() {
  const stat = textOf('/proc/self/stat');
  if (!stat) return process.stdin.isTTY === true;
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // state ppid pgrp session tty tpgid
  return group === foreground;
}

/** (U4) When npm is killed outright, only this process can stop the command. */
function stopWhenOrphaned(child) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    child.kill('SIGTERM');
  }, 500);
  watch.unref();
}

function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}

function hashOf(feed) {
  const hash = createHash('sha256');
  feed(hash);
  return hash.digest('hex');
}

function sayPhase(message) {
  hasWaited = true;
  say(message);
}

function say(message) {
  process.stderr.write(`dormouse ${name}: ${message}\n`);
}

function fail(message, code = 1) {
  process.stderr.write(`dormouse ${name ?? 'up'}: ${message}\n`);
  if (textOf(pidFile) === String(process.pid)) rmSync(pidFile, { force: true });
  process.exit(code);
}
