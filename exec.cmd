@rem npm scripts begin with exec, so that no shell stands between npm and the command. In cmd.exe, exec is this file.
@%*
