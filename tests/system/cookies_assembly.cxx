// The matrices and the right-hand side that tutorials/cookies assembles from a mesh against those given with it, entry by entry:
// "cookies_assembly -mesh 2x2|3x3". Also that unsuitable mesh files are refused: "cookies_assembly -bad FILE -message TEXT".
#include "cookies.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

static const PetscReal tolerance = 1e-13; // relative to the largest entry

using Row = std::map<PetscInt, PetscReal>;

// A Matrix Market file, coordinate or array, as sparse rows.
static PetscErrorCode read_market(const std::string &file, std::vector<Row> &rows)
{
  std::ifstream in(file);
  std::string   line;
  long          m, n, nnz, i, j;
  double        a;

  PetscFunctionBeginUser;
  PetscCheck(in, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "cannot open %s", file.c_str());
  std::getline(in, line);
  const bool array = line.find(" array ") != std::string::npos;
  while (in.peek() == '%') std::getline(in, line);
  in >> m >> n;
  rows.assign(m, Row());
  if (array) {
    for (j = 0; j < n; ++j)
      for (i = 0; i < m; ++i) {
        in >> a;
        rows[i][(PetscInt)j] = a;
      }
  } else {
    in >> nnz;
    for (long k = 0; k < nnz; ++k) {
      in >> i >> j >> a;
      rows[i - 1][(PetscInt)(j - 1)] += a;
    }
  }
  PetscCheck(in, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s ends early", file.c_str());
  PetscFunctionReturn(0);
}

// From the coordinates of a node to its place among the interior unknowns (free_nodes.txt).
static PetscErrorCode read_numbering(const std::string &dir, std::map<std::pair<double, double>, PetscInt> &number)
{
  std::ifstream mesh(dir + "/cookies.msh"), nodes(dir + "/free_nodes.txt");
  std::string   line;
  long          n, tag, node;
  double        z;

  PetscFunctionBeginUser;
  PetscCheck(mesh && nodes, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "cannot open the files in %s", dir.c_str());
  while (std::getline(mesh, line) && line != "$Nodes") { }
  mesh >> n;
  std::vector<std::pair<double, double>> xy(n);
  for (long i = 0; i < n; ++i) mesh >> tag >> xy[i].first >> xy[i].second >> z;
  number.clear();
  for (PetscInt k = 0; nodes >> node; ++k) number[xy.at(node)] = k;
  PetscFunctionReturn(0);
}

static PetscErrorCode compare(const char what[], PetscReal difference, PetscReal largest, PetscInt entries, PetscInt expected)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &difference, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &entries, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: largest difference %.1e of %.3g, %" PetscInt_FMT " entries\n", what, (double)difference, (double)largest, entries));
  PetscCheck(difference <= tolerance * largest, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s differs by %g from what is given, largest entry %g", what, (double)difference, (double)largest);
  PetscCheck(entries == expected, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s has %" PetscInt_FMT " entries, given are %" PetscInt_FMT, what, entries, expected);
  PetscFunctionReturn(0);
}

static PetscErrorCode check_matrix(const char what[], Mat A, const std::vector<Row> &given, const std::vector<PetscInt> &number)
{
  PetscInt           start, end, n;
  const PetscInt    *cols;
  const PetscScalar *vals;
  PetscReal          difference = 0, largest = 0;
  PetscInt           entries = 0, expected = 0;

  PetscFunctionBeginUser;
  for (const Row &r : given) expected += (PetscInt)r.size();
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    Row want = given[number[i]];
    PetscCall(MatGetRow(A, i, &n, &cols, &vals));
    for (PetscInt k = 0; k < n; ++k) {
      const auto      w = want.find(number[cols[k]]);
      const PetscReal g = w == want.end() ? 0 : w->second;
      difference        = PetscMax(difference, PetscAbsScalar(vals[k] - g));
      largest           = PetscMax(largest, PetscAbsReal(g));
      if (w != want.end()) want.erase(w);
    }
    for (const auto &left : want) difference = PetscMax(difference, PetscAbsReal(left.second)); // given, but not assembled
    entries += n;
    PetscCall(MatRestoreRow(A, i, &n, &cols, &vals));
  }
  PetscCall(compare(what, difference, largest, entries, expected));
  PetscFunctionReturn(0);
}

static PetscErrorCode check_mesh(const char name[])
{
  std::string                                   file;
  std::map<std::pair<double, double>, PetscInt> index;
  std::vector<PetscReal>                        xy;
  std::vector<Mat>                              A;
  std::vector<Row>                              given;
  std::vector<PetscInt>                         mine, number;
  DM                                            dm;
  Vec                                           b;
  PetscInt                                      p, N, start, end;

  PetscFunctionBeginUser;
  PetscCall(cookies::find_mesh(name, file));
  PetscCall(cookies::read_mesh(PETSC_COMM_WORLD, file.c_str(), &dm, &p));
  PetscCall(cookies::assemble(dm, p, A, &b));
  const std::string dir = file.substr(0, file.rfind('/'));
  PetscCall(read_numbering(dir, index));
  PetscCall(VecGetSize(b, &N));
  PetscCheck(N == (PetscInt)index.size(), PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " unknowns, given are %d", N, (int)index.size());

  // number[row] = place in free_nodes.txt, found by the coordinates, which are read exactly; gathered on every process
  PetscCall(cookies::unknown_coordinates(dm, xy));
  PetscCall(VecGetOwnershipRange(b, &start, &end));
  number.assign(N, 0);
  for (PetscInt i = start; i < end; ++i) {
    const auto at = index.find({(double)xy[2 * (i - start)], (double)xy[2 * (i - start) + 1]});
    PetscCheck(at != index.end(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "no node at (%g,%g)", (double)xy[2 * (i - start)], (double)xy[2 * (i - start) + 1]);
    number[i] = at->second;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, number.data(), (PetscMPIInt)N, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));

  for (PetscInt i = 0; i <= p; ++i) {
    const std::string what = "A" + std::to_string(i);
    PetscCall(read_market(dir + "/" + what + ".mtx", given));
    PetscCall(check_matrix(what.c_str(), A[i], given, number));
  }
  PetscCall(read_market(dir + "/b.mtx", given));
  const PetscScalar *a;
  PetscReal          difference = 0, largest = 0;
  PetscCall(VecGetArrayRead(b, &a));
  for (PetscInt i = start; i < end; ++i) {
    difference = PetscMax(difference, PetscAbsScalar(a[i - start] - given[number[i]][0]));
    largest    = PetscMax(largest, PetscAbsReal(given[number[i]][0]));
  }
  PetscCall(VecRestoreArrayRead(b, &a));
  PetscCall(compare("b", difference, largest, end - start, N));
  for (Mat &M : A) PetscCall(MatDestroy(&M));
  PetscCall(VecDestroy(&b));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(0);
}

static std::string last_message;

static PetscErrorCode remember(MPI_Comm, int, const char *, const char *, PetscErrorCode n, PetscErrorType p, const char *mess, void *)
{
  if (p == PETSC_ERROR_INITIAL && mess) last_message = mess;
  return n;
}

// Every process must get the error, and the error must say what is wrong with the file.
static PetscErrorCode check_bad(const char file[], const char message[])
{
  DM       dm = NULL;
  PetscInt p;

  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(remember, NULL));
  const PetscErrorCode ierr = cookies::read_mesh(PETSC_COMM_WORLD, file, &dm, &p);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(ierr, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s was read without complaint", file);
  PetscCheck(last_message.find(message) != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the message is \"%s\", without \"%s\"", last_message.c_str(), message);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "refused: %s\n", last_message.c_str()));
  PetscFunctionReturn(0);
}

// Meshes spoiled in various ways, made from the good one.
static PetscErrorCode check_bad_files(const char name[])
{
  PetscMPIInt rank;
  std::string file;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(cookies::find_mesh(name, file));
  std::ifstream      in(file);
  std::ostringstream all;
  all << in.rdbuf();
  const std::string good = all.str();
  const auto        put  = [&](const std::string &text) {
    if (rank == 0) std::ofstream("cookies_bad.msh") << text;
    return MPI_Barrier(PETSC_COMM_WORLD);
  };
  const auto replace = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  PetscCall(check_bad("there/is/no/such.msh", "cannot be opened"));
  PetscCallMPI(put("hello\n"));
  PetscCall(check_bad("cookies_bad.msh", "not a Gmsh file"));
  PetscCallMPI(put(good.substr(0, good.size() / 2)));
  PetscCall(check_bad("cookies_bad.msh", "truncated"));
  PetscCallMPI(put(good.substr(0, good.size() - 20)));
  PetscCall(check_bad("cookies_bad.msh", "truncated"));
  PetscCallMPI(put(replace("\"boundary\"", "\"edge\"")));
  PetscCall(check_bad("cookies_bad.msh", "no physical line named boundary"));
  PetscCallMPI(put(replace("\"disc1\"", "\"disk1\"")));
  PetscCall(check_bad("cookies_bad.msh", "no physical surface named disc1"));
  PetscCallMPI(put(replace("\"disc2\"", "\"disc77\"")));
  PetscCall(check_bad("cookies_bad.msh", "gap"));
  if (rank == 0) std::remove("cookies_bad.msh");
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char      name[PETSC_MAX_PATH_LEN] = "2x2";
  PetscBool bad                      = PETSC_FALSE;

  PetscCall(PetscInitialize(&argc, &argv, NULL, "Assembly of the cookies problem against given matrices.\n"));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mesh", name, sizeof(name), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bad", &bad, NULL));
  if (bad) PetscCall(check_bad_files(name));
  else PetscCall(check_mesh(name));
  PetscCall(PetscFinalize());
  return 0;
}
