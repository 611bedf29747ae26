/** The command that installs a program here; packages have the same names on both systems. */
export const installCommand = (program: string, platform: NodeJS.Platform = process.platform): string =>
  platform === 'darwin' ? `brew install ${program}` : `sudo apt install ${program}`
