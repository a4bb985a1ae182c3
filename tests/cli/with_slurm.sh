#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# with_slurm.sh COMMAND...: runs a command beside a Slurm of this machine alone, which sbatch then speaks to. Needs root and Debian's
# slurm-wlm; its daemons keep everything in a folder of their own and end with the command.
set -euo pipefail

work=$(mktemp -d)
host=$(hostname -s)
cores=$(nproc)
cat >"$work/slurm.conf" <<END
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmctldPort=46817
SlurmdPort=46818
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP OverSubscribe=FORCE:8
END
mkdir "$work/state" "$work/spool"
export SLURM_CONF=$work/slurm.conf

slurmctld -D >"$work/slurmctld.out" 2>&1 &
controller=$!
slurmd -D >"$work/slurmd.out" 2>&1 &
node=$!
stop() {
  kill "$node" "$controller" 2>/dev/null || true
  wait "$node" "$controller" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT

for _ in $(seq 60); do
  if sinfo -h -o %t 2>/dev/null | grep -q idle; then ready=yes && break; fi
  sleep 1
done
[[ -n ${ready:-} ]] || { echo "Slurm did not start:" >&2; cat "$work"/*.log "$work"/*.out >&2; exit 1; }
"$@"
